/// What the pages load: it is all in the program.
enum Assets {
    static func find(_ path: String) -> (contentType: String, text: String)? {
        switch path {
        case "/static/inspect.css": ("text/css; charset=utf-8", styleSheet)
        case "/static/inspect.js": ("text/javascript; charset=utf-8", script)
        case "/static/icon.svg": ("image/svg+xml", icon)
        default: nil
        }
    }

    private static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#2a6f97" d="M1 3h14v3H1z"/>
        <path fill="#61a5c2" d="M1 7h14v3H1z"/><path fill="#a9d6e5" d="M1 11h14v3H1z"/></svg>
        """
}
