"""What a page's template is told: the road, the head of the chapter, links, scripts."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlparse

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ThemeError

from . import hosts, search, strings
from .inline import inline

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval' blob:",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "worker-src blob:",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
WORDS_A_MINUTE = 200
_HEADING = re.compile(r"\A(.*?)<h1[^>]*>(.*?)</h1>\s*", re.DOTALL)
_PERMALINK = re.compile(r'<a class="headerlink".*?</a>')
_NUMBER = re.compile(r"^0*(\d+)-")


def chapter_number(docname: str) -> str:
    """The number a chapter's file name begins with; empty for other pages."""
    found = _NUMBER.match(docname)
    return found[1] if found else ""


def road(app: Sphinx, pagename: str) -> list[dict[str, Any]]:
    """Parts of the book, each with its pages, as `_toc.yml` orders them."""
    titles = app.env.titles
    relative = app.builder.get_relative_uri
    parts = []
    for part in app.env.external_site_map.root.subtrees:
        pages = [
            {
                "number": chapter_number(docname),
                "title": titles[docname].astext(),
                "href": relative(pagename, docname),
                "current": docname == pagename,
            }
            for docname in map(str, part.items)
            if docname in titles
        ]
        parts.append({"caption": part.caption, "pages": pages})
    return parts


def on_this_page(app: Sphinx, pagename: str) -> str:
    """The page's own headings below its title, as a list of links; may be empty."""
    outline = app.env.tocs.get(pagename)
    if outline is None or not outline.children or len(outline[0].children) < 2:
        return ""
    below = outline[0][1].deepcopy()
    for reference in below.findall(nodes.reference):
        reference["refuri"] = reference["anchorname"] or "#"
    return app.builder.render_partial(below)["fragment"]


def reading_minutes(app: Sphinx, pagename: str) -> int:
    """Minutes a reader needs for the words of a page, code and figures aside."""
    found = search.store(app.env).get(pagename, [])
    words = sum(section["words"] for section in found)
    return max(1, round(words / WORDS_A_MINUTE))


def front_list(meta: dict[str, Any], key: str) -> list[str]:
    """A list of the front matter, which reaches us as JSON."""
    value = meta.get(key) or []
    return json.loads(value) if isinstance(value, str) else value


def split_heading(pagename: str, body: str) -> tuple[str, str, str]:
    """What precedes the page's h1, what the h1 holds, and what follows it."""
    found = _HEADING.match(body)
    if found is None:
        raise ThemeError(f"{pagename}: a page needs a heading of the first level")
    return found[1], _PERMALINK.sub("", found[2]).strip(), body[found.end() :]


def launch_links(app: Sphinx, pagename: str, repository: str) -> dict[str, str]:
    """Where a notebook can be run; empty while the repository has no address."""
    where = urlparse(repository)
    if where.netloc != "github.com":
        return {}
    branch = app.config.book_notebook_branch
    name = f"notebooks/{pagename}.ipynb"
    return {
        "colab": "https://colab.research.google.com/github"
        f"{where.path}/blob/{branch}/{name}",
        "binder": "https://mybinder.org/v2/gh"
        f"{where.path}/{branch}?urlpath=lab/tree/{name}",
    }


def repository_links(context: dict[str, Any], pagename: str) -> dict[str, str]:
    """Links to the page's source and to the list of mistakes, where there is one."""
    repository = (context.get("theme_repository_url") or "").rstrip("/")
    if not repository:
        return {}
    branch = context.get("theme_repository_branch") or "main"
    folder = (context.get("theme_path_to_docs") or "book").strip("/")
    return {
        "repository": repository,
        "edit": f"{repository}/edit/{branch}/{folder}/{pagename}.md",
        "report": f"{repository}/issues/new?title={pagename}%3A+",
    }


def scripts(body: str, search_page: bool) -> list[str]:
    """Scripts the page needs, in order; all are deferred."""
    found = ["site.js"]
    if "data-q=" in body:
        found.append("link.js")
    ids = hosts.figures_on(body)
    if ids or "os-sweep" in body:
        # The host comes last: it may wake a figure as soon as it runs.
        found += [f"figures/{name}.js" for name in [*ids, "host"]]
    if hosts.drills_on(body):
        found.append("drills/drills.js")
    return found + (["search.js"] if search_page else [])


def _headings(app: Sphinx) -> list[tuple[str, str, str]]:
    """Page, heading and address of every section, for the search page."""
    return [(page, heading, href) for href, page, heading, _ in search.entries(app.env)]


def _neighbour(app: Sphinx, pagename: str, docname: str | None) -> dict[str, str] | None:
    if not docname or docname not in app.env.titles:
        return None
    return {
        "number": chapter_number(docname),
        "title": app.env.titles[docname].astext(),
        "href": app.builder.get_relative_uri(pagename, docname),
    }


def _head(app: Sphinx, pagename: str, body: str) -> dict[str, Any]:
    """The chapter's head: number, heading, front matter, reading time."""
    before, heading, rest = split_heading(pagename, body)
    meta = app.env.metadata.get(pagename, {})
    return {
        "opening": before,
        "heading": heading,
        "body": rest,
        "number": chapter_number(pagename),
        "minutes": reading_minutes(app, pagename),
        "description": meta.get("description", ""),
        "learn": [inline(line) for line in front_list(meta, "learn")],
        "need": [inline(line) for line in front_list(meta, "need")],
        "summary_es": inline(meta.get("summary_es", "")),
        "local_toc": on_this_page(app, pagename),
        "progress": hosts.progress(body, app.config.language),
    }


def prepare(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Fill the template's context."""
    body = context.get("body", "")
    words = strings.table(app.config.language)
    if doctree is not None:
        context.update(_head(app, pagename, body))
    relations = app.builder.relations.get(pagename, (None, None, None))
    repository = repository_links(context, pagename)
    if context["pageurl"] and pagename == app.config.root_doc:
        context["pageurl"] = app.config.html_baseurl.rstrip("/") + "/"
    context.update(
        words=words,
        said_words=json.dumps(words, ensure_ascii=False),
        headings=_headings(app),
        policy=CONTENT_SECURITY_POLICY,
        cover=pagename == app.config.root_doc,
        road=road(app, pagename),
        before=_neighbour(app, pagename, relations[1]),
        after=_neighbour(app, pagename, relations[2]),
        links=repository,
        launch=launch_links(app, pagename, repository["repository"])
        if repository and chapter_number(pagename)
        else {},
        notebook=app.config.book_notebooks and chapter_number(pagename) != "",
        translations=app.config.book_translations,
        scripts=scripts(body, search_page=templatename == "search.html"),
    )


def refresh(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Every page shows every title: when one changes, write all pages anew."""
    titles = {name: title.astext() for name, title in sorted(env.titles.items())}
    now = (env.external_site_map.as_json(), titles)
    if getattr(env, "book_titles", None) == now:
        return []
    env.book_titles = now
    return sorted(env.found_docs)


def setup(app: Sphinx) -> None:
    """Prepare every page."""
    app.connect("env-updated", refresh)
    app.connect("html-page-context", prepare)
