/// A Maintainer field: `Name <address>`.
public enum MaintainerField {
    /// The name and the address; all of it is the name when there is no address in it.
    public static func split(_ field: String) -> (name: String, email: String?) {
        guard field.hasSuffix(">"), let open = field.lastIndex(of: "<"), open > field.startIndex else {
            return (field, nil)
        }
        let email = field[field.index(after: open)...].dropLast()
        let name = field[..<open].split(separator: " ").joined(separator: " ")
        return (name.isEmpty ? String(email) : name, String(email))
    }
}
