"""What a page's template is given: its head, the road, links, scripts, the policy."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote, urlparse

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from livepage import book
from livepage.quantities import quantities
from livepage.words import table

from . import contents, hosts, road, search, sittings
from .head import head
from .paths import ASSETS, EXTENSION

NAME = re.compile(r"[a-z]+(?:_[a-z]+)*")
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


def page_link(app: Sphinx, pagename: str, docname: str) -> dict[str, Any]:
    """Number, title and address of a page, seen from another."""
    words = table("site", app.config.language)
    return {
        "name": docname,
        "number": road.number(app.env, docname),
        "title": app.env.titles[docname].astext(),
        "href": app.builder.get_relative_uri(pagename, docname),
        "current": docname == pagename,
        "marks": sittings.marks(docname, len(sittings.of(app.env, docname)), words),
    }


def parts(app: Sphinx, pagename: str) -> list[dict[str, Any]]:
    """Parts of the book, each with its pages, in their order."""
    return [
        {
            "caption": part.caption,
            "pages": [
                page_link(app, pagename, docname)
                for docname in part.pages
                if docname in app.env.titles
            ],
        }
        for part in contents.parts(app.env)
    ]


def neighbours(app: Sphinx, pagename: str) -> dict[str, dict[str, Any] | None]:
    """The pages before and after this one."""
    _, before, after = app.builder.relations.get(pagename, (None, None, None))
    return {
        "before": page_link(app, pagename, before) if before else None,
        "after": page_link(app, pagename, after) if after else None,
    }


def repository_links(
    context: dict[str, Any], pagename: str, release: str
) -> dict[str, str]:
    """Links to the page's source and to the list of mistakes, where there is one."""
    repository = (context.get("theme_repository_url") or "").rstrip("/")
    if not repository:
        return {}
    branch = context.get("theme_repository_branch") or "main"
    folder = (context.get("theme_path_to_docs") or "book").strip("/")
    return {
        "repository": repository,
        "edit": f"{repository}/edit/{branch}/{folder}/{pagename}.md",
        "report": f"{repository}/issues/new?title={pagename}%3A+&body={quote(release)}",
    }


def launch_links(app: Sphinx, pagename: str, repository: str) -> dict[str, str]:
    """Where a chapter's notebook can be run; empty while it is nowhere on GitHub."""
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


def begin(app: Sphinx, pagename: str) -> dict[str, str] | None:
    """A link to where the road begins, for the page that draws the road."""
    chapters = [stop.file for stop in road.chapters(app.env) if stop.file]
    drawn = "road" in app.env.metadata.get(pagename, {})
    if not drawn or not chapters or not sittings.of(app.env, chapters[0]):
        return None
    return sittings.begin(app, pagename, page_link(app, pagename, chapters[0]))


def scripts(body: str, search_page: bool, has_marks: bool = False) -> list[str]:
    """Scripts the page needs, in order; all are deferred."""
    found = ["site.js", *(["sittings.js"] if has_marks else [])]
    if "data-q=" in body:
        found.append("link.js")
    ids = hosts.figures_on(body)
    if ids or "os-sweep" in body:
        # The host comes last: it may wake a figure as soon as it runs.
        found += [f"figures/{name}.js" for name in [*ids, "host"]]
    asked = hosts.drills_on(body) or hosts.deck_on(body) or hosts.uses_on(body)
    runs = asked or "data-binds=" in body
    if "data-drills=" in body or (has_marks and not runs):
        found.append("drills/road.js")
    if runs:
        found.append("drills/drills.js")
    return found + (["search.js"] if search_page else [])


def for_scripts(words: Mapping[str, str], language: str) -> dict[str, Any]:
    """The words that scripts say, and letter and name of each quantity."""
    named = {name: (q.letter, q.words[language]) for name, q in quantities().items()}
    said = {key: text for key, text in words.items() if key in _names_in_scripts()}
    return {**said, "quantities": named}


@cache
def _names_in_scripts() -> frozenset[str]:
    """Every name in the scripts that may ask for a word of the site."""
    files = (
        *ASSETS.glob("*.js"),
        *(EXTENSION.parent / "drills" / "page").glob("*.mjs"),
    )
    return frozenset(NAME.findall(" ".join(file.read_text("utf-8") for file in files)))


def address(app: Sphinx, pagename: str, context: dict[str, Any]) -> str | None:
    """Where the page is published; None while `html.baseurl` is unset.

    The page for an address that leads nowhere has none of its own.
    """
    if pagename == "404":
        return None
    if context["pageurl"] and pagename == app.config.root_doc:
        return app.config.html_baseurl.rstrip("/") + "/"
    return context["pageurl"]


def prepare(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Fill the template's context."""
    body = context.get("body", "")
    language = app.config.language
    words = table("site", language)
    if doctree is not None:
        try:
            context.update(head(app, pagename, body))
        except ValueError as error:  # an author's mistake, in a drill for example
            raise ExtensionError(f"{pagename}: {error}") from error
    release = book.current().version
    if app.config.book_build:
        release = words["build"].format(version=release, build=app.config.book_build)
    links = repository_links(context, pagename, release)
    chapter = bool(road.number(app.env, pagename))
    context.update(
        neighbours(app, pagename),
        begin=begin(app, pagename),
        cover=pagename == app.config.root_doc,
        headings=search.headings(app.env),
        launch=launch_links(app, pagename, links.get("repository", ""))
        if chapter
        else {},
        licence=app.config.book_licence,
        links=links,
        notebook=app.config.book_notebooks if chapter else "",
        pageurl=address(app, pagename, context),
        policy=CONTENT_SECURITY_POLICY,
        release=release,
        road=parts(app, pagename),
        scripts=scripts(
            body,
            search_page=templatename == "search.html",
            has_marks=bool(sittings.counts(app.env)),
        ),
        translations={
            code: (place, table("site", code)["language"])
            for code, place in app.config.book_translations.items()
        },
        words=words,
        words_json=json.dumps(for_scripts(words, language), ensure_ascii=False),
    )


def refresh(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Every page shows all titles and marks: when one changes, write all pages anew."""
    titles = {name: title.astext() for name, title in sorted(env.titles.items())}
    lists = (contents.parts(env), contents.meta(env), road.chapters(env))
    now = (*lists, titles, sittings.counts(env))
    if getattr(env, "book_titles", None) == now:
        return []
    env.book_titles = now
    return sorted(env.found_docs)


def setup(app: Sphinx) -> None:
    """Prepare every page."""
    app.connect("env-updated", refresh)
    app.connect("html-page-context", prepare)
