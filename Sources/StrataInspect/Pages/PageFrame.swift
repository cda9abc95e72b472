import HTTPTypes
import StrataBrowsing

/// What all pages have around their content.
enum PageFrame {
    /// The places of the navigation, with the letter that leads there.
    private static let places: [(path: String, title: String, key: String)] = [
        ("/", "Entities", "e"), ("/query", "Query", "q"), ("/history", "History", "h"), ("/changes", "Changes", "c"),
        ("/model", "Model", "m"), ("/log", "Log", "l"), ("/activity", "Activity", "a"),
    ]

    /// Those that are about no one point of the past.
    private static let timeless: Set = ["/history", "/log", "/changes", "/activity"]

    /// - Parameters:
    ///   - query: what was asked for; nil where it could not be read.
    ///   - forms: whether the page is there as JSON and CSV.
    static func page(_ content: PageContent, _ query: Query?, store: String, forms: Bool = true) -> Markup {
        let at = query?["at"]
        let entries = places.map { place -> Markup in
            let current: Markup = place.path == query?.path ? " aria-current=\"page\"" : ""
            let link = Link(place.path, ["at": Self.timeless.contains(place.path) ? nil : at])
            return "<a href=\"\(link)\" data-key=\"\(place.key)\"\(current)>\(place.title)</a>\n"
        }
        var banner = Markup()
        if let at, let query {
            banner = """
                <p class="past" role="status">As it was at <b>\(CellMarkup.cut(at, 60))</b>.
                <a href="\(query.link(setting: ["at": nil, "page": nil]))">Now</a></p>
                """
        }
        var links = Markup()
        if forms, let query {
            links = """
                <p class="forms">This page as <a href="\(query.link(.json))">JSON</a>,
                <a href="\(query.link(.csv))">CSV</a></p>
                """
        }
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(CellMarkup.cut(content.title, 80)) · \(store)</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <link rel="icon" href="/static/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/static/inspect.css"><script src="/static/inspect.js" defer></script></head>
            <body><a class="skip" href="#main">Skip to content</a>
            <header><strong class="store"><bdi>\(CellMarkup.cut(store, 60))</bdi></strong>
            <nav aria-label="Pages">\(entries)</nav>
            <button type="button" id="look" hidden>Dark or light</button></header>
            <main id="main" tabindex="-1">\(banner)<h1><bdi>\(CellMarkup.cut(Cell.visible(content.title), 120))</bdi></h1>
            \(content.body)\(links)</main>
            <dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2>
            <dl><dt>/</dt><dd>first field</dd><dt>j, k</dt><dd>next, previous row</dd><dt>Enter</dt><dd>open the row</dd>
            <dt>n, p</dt><dd>next, previous page</dd><dt>g, then a letter</dt>
            <dd>e entities, q query, h history, c changes, m model, l log, a activity</dd>
            <dt>Tab</dt><dd>in a predicate: take the name that is offered</dd></dl>
            <form method="dialog"><button>Close</button></form></dialog>
            <footer>Read-only. Press <kbd>?</kbd> for keys.</footer></body></html>

            """
    }

    /// The page of something that went wrong.
    static func failure(_ error: InspectError, _ query: Query?, store: String) -> Markup {
        let message = CellMarkup.cut(Cell.visible(error.message), Limits.textCharacters)
        let content = PageContent(
            title: error.status.reasonPhrase.isEmpty ? "Error" : error.status.reasonPhrase,
            body: "<p class=\"error\" role=\"alert\">\(message)</p>", columns: [], records: [])
        return page(content, query, store: store, forms: false)
    }

    /// Fields of a form, with a label each.
    static func field(
        _ name: String, _ label: String, _ value: String?, hint: String = "", kind: String = "text"
    )
        -> Markup
    {
        """
        <label>\(label)<input name="\(name)" value="\(value ?? "")" type="\(kind)" placeholder="\(hint)"
        autocomplete="off" spellcheck="false"></label>

        """
    }

    static func hidden(_ name: String, _ value: String?) -> Markup {
        guard let value else { return "" }
        return "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }

    /// A choice; the first entry stands for none.
    static func choice(_ name: String, _ label: String, _ values: [String], _ chosen: String?, none: String) -> Markup {
        let options = values.map { value -> Markup in
            let mark: Markup = value == chosen ? " selected" : ""
            return "<option value=\"\(value)\"\(mark)>\(value)</option>"
        }
        return
            "<label>\(label)<select name=\"\(name)\"><option value=\"\">\(none)</option>\(options)</select></label>\n"
    }
}
