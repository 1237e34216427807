//! Renders Markdown of packages as HTML without active content: text, lists, tables, code, and links to other sites.
//!
//! Markup of HTML in the text is shown as text. Images are replaced by their descriptions, because pages load nothing
//! from elsewhere. Links that are not addresses of their own have no target here, and are shown as text.

use maud::{Markup, html};
use pkgres_manifest::diagnostic::Escaped;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::text;

/// How deep elements may be in each other; deeper ones are left out, and their texts stay.
const MAX_DEPTH: usize = 24;

/// An element whose end has not been reached.
struct Open<'text> {
    /// None if the element is left out.
    tag: Option<Tag<'text>>,
    content: Vec<Markup>,
}

/// A text in Markdown, below a heading of the second level.
pub(super) fn rendered(markdown: &str) -> Markup {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut open = vec![Open {
        tag: None,
        content: Vec::new(),
    }];
    let mut level = 2;
    let mut is_header = false;
    for event in Parser::new_ext(markdown, options) {
        let part = match event {
            Event::Start(tag) => {
                is_header |= matches!(tag, Tag::TableHead);
                let tag = (open.len() < MAX_DEPTH).then_some(tag);
                open.push(Open {
                    tag,
                    content: Vec::new(),
                });
                continue;
            }
            Event::End(_) => {
                let Some(Open { tag, content }) = open.pop() else {
                    continue;
                };
                let part = element(tag.as_ref(), &content, &mut level, is_header);
                if matches!(tag, Some(Tag::TableHead)) {
                    is_header = false;
                }
                part
            }
            Event::Text(words)
                if matches!(
                    open.last(),
                    Some(Open {
                        tag: Some(Tag::CodeBlock(_)),
                        ..
                    })
                ) =>
            {
                html! { (text::lines(&words)) }
            }
            Event::Text(words) => html! { (Escaped::new(&words).to_string()) },
            Event::Code(code) => html! { code { (Escaped::new(&code).to_string()) } },
            Event::Html(words) | Event::InlineHtml(words) => html! { (text::lines(&words)) },
            Event::SoftBreak => html! { " " },
            Event::HardBreak => html! { br; },
            Event::Rule => html! { hr; },
            _ => continue,
        };
        if let Some(parent) = open.last_mut() {
            parent.content.push(part);
        }
    }
    // Every element that begins also ends, so that only the whole is left.
    let content = open.into_iter().flat_map(|open| open.content);
    html! { @for part in content { (part) } }
}

/// An element with its content. `level` is that of the last heading.
fn element(
    tag: Option<&Tag<'_>>,
    content: &[Markup],
    level: &mut usize,
    is_header: bool,
) -> Markup {
    let inner = html! { @for part in content { (part) } };
    let Some(tag) = tag else {
        return inner;
    };
    match tag {
        Tag::Paragraph => html! { p { (inner) } },
        Tag::Heading { level: stated, .. } => {
            // No level is left out, so that the page has an outline.
            *level = (*stated as usize + 2).min(*level + 1).min(6);
            match *level {
                3 => html! { h3 { (inner) } },
                4 => html! { h4 { (inner) } },
                5 => html! { h5 { (inner) } },
                _ => html! { h6 { (inner) } },
            }
        }
        Tag::BlockQuote(_) => html! { blockquote { (inner) } },
        Tag::CodeBlock(kind) => {
            let language = match kind {
                CodeBlockKind::Fenced(language) => text::beginning(language, 20),
                CodeBlockKind::Indented => String::new(),
            };
            html! { pre.plain tabindex="0" { code title=[(!language.is_empty()).then_some(language)] { (inner) } } }
        }
        Tag::List(Some(first)) => html! { ol start=(first) { (inner) } },
        Tag::List(None) => html! { ul { (inner) } },
        Tag::Item => html! { li { (inner) } },
        Tag::Table(_) => html! { div.table tabindex="0" { table { (inner) } } },
        Tag::TableHead => html! { thead { tr { (inner) } } },
        Tag::TableRow => html! { tr { (inner) } },
        Tag::TableCell if is_header => html! { th scope="col" { (inner) } },
        Tag::TableCell => html! { td { (inner) } },
        Tag::Emphasis => html! { em { (inner) } },
        Tag::Strong => html! { strong { (inner) } },
        Tag::Strikethrough => html! { s { (inner) } },
        Tag::Link { dest_url, .. } => match address(dest_url) {
            Some(address) => {
                html! { a href=(address) rel="nofollow noopener noreferrer" { (inner) } }
            }
            None => inner,
        },
        Tag::Image { .. } => html! { span.quiet { "[" (inner) "]" } },
        _ => inner,
    }
}

/// The address of a link, if it is that of another site.
fn address(target: &str) -> Option<String> {
    let address = url::Url::parse(target).ok()?;
    let is_safe = matches!(address.scheme(), "http" | "https" | "mailto");
    is_safe.then(|| address.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_elements() {
        for (markdown, expected) in [
            (
                "# One\n### Two\ntext",
                "<h3>One</h3><h4>Two</h4><p>text</p>",
            ),
            (
                "a *b* **c** `d < e`",
                "<p>a <em>b</em> <strong>c</strong> <code>d &lt; e</code></p>",
            ),
            ("- a\n- b\n", "<ul><li>a</li><li>b</li></ul>"),
            ("3. a\n", "<ol start=\"3\"><li>a</li></ol>"),
            (
                "```yaml\na: 1\n  b\n```",
                "<pre class=\"plain\" tabindex=\"0\"><code title=\"yaml\">a: 1\n  b\n</code></pre>",
            ),
            (
                "|a|b|\n|-|-|\n|1|2|\n",
                "<div class=\"table\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr></thead><tr><td>1</td><td>2</td></tr></table></div>",
            ),
            (
                "[a](https://example.org/x)",
                "<p><a href=\"https://example.org/x\" rel=\"nofollow noopener noreferrer\">a</a></p>",
            ),
            (
                "![a picture](https://example.org/x.png)",
                "<p><span class=\"quiet\">[a picture]</span></p>",
            ),
        ] {
            assert_eq!(rendered(markdown).into_string(), expected, "{markdown}");
        }
    }

    #[test]
    fn nothing_in_markdown_is_active() {
        for markdown in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "[a](javascript:alert(1))",
            "[a](data:text/html,<script>1</script>)",
            "[a](../packages/x)",
            "[a](<https://example.org/\" onclick=\"x>)",
            "```<script>\n</code></pre><script>\n```",
            "# <b onclick=x>\n\n> <style>\n",
        ] {
            let shown = rendered(markdown).into_string();
            for unwanted in [
                "<script",
                "<img",
                "<style",
                "<b ",
                "href=\"javascript",
                "href=\"data",
                "\" onclick",
            ] {
                assert!(!shown.contains(unwanted), "{markdown}: {shown}");
            }
        }
        assert!(rendered("a\u{202e}b").into_string().contains("\\u{202e}"));
    }

    #[test]
    fn deep_markdown_is_not_deep_html() {
        let shown = rendered(&format!("{} deep", "> ".repeat(5_000))).into_string();
        assert!(shown.contains("deep"), "{shown}");
        assert!(shown.matches("<blockquote>").count() < MAX_DEPTH, "{shown}");
    }
}
