import Foundation
import Strata

extension NSPersistentHistoryToken {
    /// So long may a text be: a store takes 60 characters.
    private static let textLengthMaximum = 8_192

    /// The token as a text of letters, digits, `-` and `_`: for URLs, and for the `id` of server-sent events, which
    /// comes back as `Last-Event-ID`.
    public var urlSafeString: String {
        // A dictionary of strings and numbers always has a JSON form.
        (try? JSONEncoder().encode(self)).map { URLSafeText.encoded($0) } ?? ""
    }

    /// The token that a text from outside stands for; nil if it stands for none.
    public static func urlSafe(_ text: String) -> NSPersistentHistoryToken? {
        guard text.utf8.count <= textLengthMaximum, let bytes = URLSafeText.decoded(text) else { return nil }
        return try? JSONDecoder().decode(NSPersistentHistoryToken.self, from: Data(bytes))
    }
}
