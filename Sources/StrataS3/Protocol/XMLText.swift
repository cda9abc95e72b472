/// Text as it is written into the bodies of requests.
enum XMLText {
    /// Whether XML 1.0 can say it: it has no way to write most control characters.
    static func canWrite(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            ($0.value >= 0x20 || $0 == "\t" || $0 == "\n" || $0 == "\r") && $0.value != 0xFFFE && $0.value != 0xFFFF
        }
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            // A reader would take these for white space of the document.
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
