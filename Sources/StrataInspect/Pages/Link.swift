/// A path of the page with parameters, of which those without a value are left out.
package struct Link: Sendable {
    let text: String

    init(_ path: String, _ parameters: KeyValuePairs<String, String?> = [:]) {
        self.init(path, parameters.map { ($0.key, $0.value) })
    }

    init(_ path: String, _ parameters: [(String, String?)]) {
        let parts = parameters.compactMap { name, value in
            value.flatMap { $0.isEmpty ? nil : "\(name)=\(Self.encoded($0))" }
        }
        let place = path.split(separator: "/", omittingEmptySubsequences: false).map { Self.encoded(String($0)) }
        text = place.joined(separator: "/") + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
    }

    /// Everything but letters, digits and `-._~` as `%XX`.
    static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }
}
