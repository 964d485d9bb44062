# The interpreter that judges: it has the expected values, and none of the reader's code.


def judge(job, play, settled):
    """Return the report of an answer as JSON."""
    import json

    job = json.loads(job)
    if job["kind"] == "kernel":
        from livepage.drills import kernel_grader as marks
    else:
        from livepage.drills import grader as marks

    def played(index, how=""):
        # Said before the case is played: should it never end, this is still known.
        launch = (
            marks.launched(job["cases"][index]) if hasattr(marks, "launched") else None
        )
        return json.loads(play(index, how, json.dumps(launch)))

    def told(report):
        settled(json.dumps(report))

    slips = lambda: job["slips"]
    report = marks.grade(played, job["cases"], slips, job["tolerance"], told)
    return json.dumps(report)
