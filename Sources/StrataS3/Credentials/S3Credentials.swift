/// Keys that requests are signed with. Printing them shows the access key's last four characters and nothing more.
public struct S3Credentials: Sendable, Hashable {
    /// Names the secret key; is sent with each request.
    public let accessKeyID: String
    /// Signs; is never sent.
    public let secretAccessKey: String
    /// Goes with temporary keys.
    public let sessionToken: String?
    /// When they end, in seconds since 1970; nil for keys that do not.
    public let expiration: Double?

    /// Takes keys as they are, without white space at their ends.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expiration: Double? = nil) {
        self.accessKeyID = Self.trimmed(accessKeyID)
        self.secretAccessKey = Self.trimmed(secretAccessKey)
        self.sessionToken = sessionToken.map(Self.trimmed).flatMap { $0.isEmpty ? nil : $0 }
        self.expiration = expiration
    }

    /// Whether the keys can stand in a header. A line break in one would otherwise come back in an error's message.
    var isWellFormed: Bool {
        !accessKeyID.isEmpty && !secretAccessKey.isEmpty
            && [accessKeyID, secretAccessKey, sessionToken ?? ""].allSatisfy {
                $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            }
    }

    /// A text without the secrets, should a server have put them into it.
    func redacted(_ text: String) -> String {
        [secretAccessKey, sessionToken ?? ""].filter { !$0.isEmpty }.reduce(text) { text, secret in
            text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "[redacted]")
        }
    }

    private static func trimmed(_ text: String) -> String {
        var rest = text[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "S3Credentials(…\(accessKeyID.suffix(4))\(sessionToken == nil ? "" : ", temporary"))"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
