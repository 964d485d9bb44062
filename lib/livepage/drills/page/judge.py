# The interpreter that judges: it has the expected values, and none of the reader's code.


def judge(job, play, settled):
    """Return the report of an answer as JSON."""
    import json

    from livepage.drills import syntax

    job = json.loads(job)
    marks = __import__("livepage.drills.kinds.%s.grader" % job["kind"], None, None, "*")

    def played(index, how=""):
        # Sent along before the case is played, so that it is known if the case never ends.
        launch = (
            marks.launched(job["cases"][index]) if hasattr(marks, "launched") else None
        )
        return json.loads(play(index, how, json.dumps(launch)))

    untouched = syntax.same_program(job["answer"], job["starter"])

    def noted(report):
        if untouched and report and not report["passed"]:
            report["untouched"] = True
        return json.dumps(report)

    def known(report):
        settled(noted(report))

    slips = lambda: job["slips"]
    report = marks.grade(played, job["cases"], slips, job["tolerance"], known)
    return noted(report)
