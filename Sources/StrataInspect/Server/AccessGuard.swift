import HTTPTypes

/// Lets only the browser in that was given the URL which the command prints.
///
/// The server listens on loopback, which other users and every page in the browser can reach, too. Hence a token that
/// cannot be guessed, in the URL once and in a cookie from then on; a check of the name that the browser believes to
/// speak to, so that no other site can have its name resolved to this machine; and no answer to other pages.
package struct AccessGuard: Sendable {
    /// What to do with a request.
    enum Decision: Equatable {
        case allowed
        /// The URL had the token: give the browser a cookie, and send it to the URL without it.
        case admitted
        case refused(HTTPResponse.Status, String)
    }

    package let token: String
    let cookieName: String

    /// - Parameter port: cookies do not tell ports apart, so the name does.
    package init(token: String, port: Int) {
        self.token = token
        cookieName = "strata-inspect-\(port)"
    }

    /// 160 random bits.
    package static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567")
        return String((0..<32).map { _ in alphabet[Int(generator.next(upperBound: UInt32(32)))] })
    }

    func decide(_ request: HTTPRequest, _ query: Query) -> Decision {
        guard Self.isLoopback(request.authority) else {
            return .refused(
                HTTPResponse.Status(code: 421, reasonPhrase: "Misdirected Request"),
                "this server answers to 127.0.0.1, ::1 and localhost only")
        }
        guard request.method == .get || request.method == .head else {
            return .refused(.methodNotAllowed, "there is nothing to change here: only GET and HEAD are answered")
        }
        if let origin = request.headerFields[.origin], origin != "http://\(request.authority ?? "")" {
            return .refused(.forbidden, "requests of other pages are not answered")
        }
        if let site = Self.fetchSite.flatMap({ request.headerFields[$0] }), site != "same-origin", site != "none" {
            // Links from elsewhere are followed if they have the token.
            let mode = Self.fetchMode.flatMap { request.headerFields[$0] }
            let target = Self.fetchDestination.flatMap { request.headerFields[$0] }
            guard mode == "navigate", target == "document" else {
                return .refused(.forbidden, "requests of other pages are not answered")
            }
        }
        if let given = query["token"] {
            return isToken(given) ? .admitted : .refused(.unauthorized, "the token in the URL is not the server's")
        }
        if request.headerFields[.authorization].map({ isToken($0, after: "Bearer ") }) == true { return .allowed }
        for field in request.headerFields[values: .cookie] {
            for cookie in field.split(separator: ";") {
                let text = String(cookie.drop { $0 == " " })
                if isToken(text, after: cookieName + "=") { return .allowed }
            }
        }
        return .refused(.unauthorized, "open the URL that strata inspect has printed: it has the token")
    }

    private static let fetchSite = HTTPField.Name("Sec-Fetch-Site")
    private static let fetchMode = HTTPField.Name("Sec-Fetch-Mode")
    private static let fetchDestination = HTTPField.Name("Sec-Fetch-Dest")

    /// Whether a Host field names this machine by a name that no other site can have. A tunnel may end at another port.
    static func isLoopback(_ authority: String?) -> Bool {
        guard let authority else { return false }
        var host = authority[...]
        if let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isWholeNumber) {
            host = host[..<colon]
        }
        return ["127.0.0.1", "localhost", "[::1]"].contains(host.lowercased())
    }

    private func isToken(_ text: String, after prefix: String) -> Bool {
        text.hasPrefix(prefix) && isToken(String(text.dropFirst(prefix.count)))
    }

    /// In a time that does not depend on where they differ.
    private func isToken(_ text: String) -> Bool {
        let (given, wanted) = (Array(text.utf8), Array(token.utf8))
        guard given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// For every answer.
    static let headers: HTTPFields = {
        var fields = HTTPFields()
        fields[.cacheControl] = "no-store"
        fields[.xContentTypeOptions] = "nosniff"
        fields[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        for (name, value) in [
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
        ] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }()
}
