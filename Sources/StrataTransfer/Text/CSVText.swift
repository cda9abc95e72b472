/// Fields of comma-separated values as they are written (RFC 4180).
package enum CSVText {
    /// A text as a field: between quotation marks where that is needed, and if it is empty, which tells it from null.
    ///
    /// Characters that combine with one before them do not matter: a comma with an accent is a comma to who reads it.
    package static func field(_ text: String) -> String {
        guard text.isEmpty || text.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else {
            return text
        }
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" { result.unicodeScalars.append(scalar) }
            result.unicodeScalars.append(scalar)
        }
        result.unicodeScalars.append("\"")
        return result
    }
}
