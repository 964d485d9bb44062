# The interpreter that writes kernels in WGSL, for the reader's own GPU.


def translator(asked):
    """Answer a question, in JSON: a kernel in WGSL, a compiler's words, or a launch."""
    import json

    from blocksim import load, wgsl

    job = json.loads(asked)
    if not hasattr(wgsl, "written"):
        wgsl.written = []  # what has been translated; a question names it by its number
    if "explain" in job:
        return json.dumps(wgsl.explained(wgsl.written[job["of"]], job["explain"]))
    if "launch" in job:
        made = wgsl.written[job["of"]]
        return json.dumps(wgsl.words(made, job["launch"], job["arguments"]))
    options = {"subgroup": job["subgroup"], "uniform": job["uniform"]}
    try:
        kernel = load(job["text"], job["function"], job["names"], whole=job["whole"])
        made = wgsl.translate(kernel, job["block"], job["kinds"], **options)
    except wgsl.Untranslatable as error:
        found = {"line": error.line, "reason": error.reason, "instead": error.instead}
        return json.dumps({"refused": found})
    wgsl.written.append(made)
    known = {"key": len(wgsl.written) - 1, "standIn": wgsl.STAND_IN, "far": wgsl.FAR}
    return json.dumps({"made": dict(made, **known)})
