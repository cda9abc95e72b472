import Foundation

/// An error of Core Data's domain that says what is wrong wherever it is printed, and prints no values of objects.
///
/// `NSError` on Linux prints "(null)" for an error that has no failure reason, and everything in its user info: objects
/// with all their values, and the value that failed validation. Programs need both under Core Data's keys, and logs
/// need neither. So this one prints a text of its own: the reason, and of the user info only what names things.
///
/// It is caught as `CocoaError` and as `NSError`, as an error of Foundation is.
package final class DescribedError: NSError, @unchecked Sendable {
    // Unchecked: as its superclass, it never changes; what the user info holds belongs to whoever catches it.

    /// Whether it is about the constants of a predicate, which may be users' data, and not about its keys.
    package let isOfConstants: Bool
    /// Made with the error, on the queue of the objects that it names: it may be printed anywhere.
    private let printed: String?

    /// - Parameters:
    ///   - userInfo: under `NSLocalizedDescriptionKey` what to tell a user, which may name numbers, dates and lengths;
    ///     under `NSLocalizedFailureReasonErrorKey` what to tell a log, which may not. Without the second the first is
    ///     both.
    package init(_ code: CocoaError.Code, userInfo: [String: Any] = [:], isOfConstants: Bool = false) {
        self.isOfConstants = isOfConstants
        var info = userInfo
        let text = info[NSLocalizedDescriptionKey] as? String ?? DescribedError.text(code, info)
        info[NSLocalizedDescriptionKey] = text
        if info[NSLocalizedFailureReasonErrorKey] == nil { info[NSLocalizedFailureReasonErrorKey] = text }
        printed = DescribedError.printed(code.rawValue, info)
        super.init(domain: NSCocoaErrorDomain, code: code.rawValue, userInfo: info)
    }

    package required init?(coder: NSCoder) {
        isOfConstants = false
        printed = nil
        super.init(coder: coder)
    }

    /// What the codes that come without a text mean.
    private static func text(_ code: CocoaError.Code, _ info: [String: Any]) -> String {
        let path = info[NSFilePathErrorKey] as? String ?? ""
        switch code {
        case .fileReadNoSuchFile, .fileNoSuchFile: return "There is no file or store at \(path)."
        case .fileReadUnsupportedScheme: return "Only stores at file URLs can be used, not at \(path)."
        case .coderReadCorrupt: return "The data is damaged, or was not written by Strata."
        case .userCancelled: return "The operation was cancelled."
        default: return "The operation could not be completed (error \(code.rawValue))."
        }
    }

    package override var description: String { printed ?? super.description }

    package override var debugDescription: String { description }

    // MARK: What is printed of the user info

    private static let texts: Set<String> = [NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey]
    /// Keys whose values are names that the program or its model has made up.
    private static let names: Set<String> = [
        NSValidationKeyErrorKey, NSFilePathErrorKey, NSURLErrorKey, "reason", "message",
    ]

    private static func printed(_ code: Int, _ userInfo: [String: Any]) -> String {
        let reason = userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? ""
        let parts = userInfo.compactMap { key, value in
            texts.contains(key) ? nil : shown(key, value).map { "\(key)=\($0)" }
        }
        let info = parts.isEmpty ? "" : " UserInfo={\(parts.sorted().joined(separator: ", "))}"
        return "Error Domain=\(NSCocoaErrorDomain) Code=\(code) \"\(reason)\"\(info)"
    }

    /// Nil for what is left out.
    private static func shown(_ key: String, _ value: Any) -> String? {
        if names.contains(key) { return "\(value)" }
        if AnyElements.isInstance(value), let predicate = value as? NSPredicate { return predicate.formatString }
        switch value {
        case let named as any ErrorSubject: return named.errorText
        case let error as any Error: return "\(error)"
        case let elements as [Any]:
            let parts = elements.prefix(partsMaximum).compactMap { shown("", $0) }
            let rest = elements.count > partsMaximum ? ", and \(elements.count - partsMaximum) more" : ""
            return "(\(parts.joined(separator: ", "))\(rest))"
        default: return "<\(Swift.type(of: value))>"
        }
    }

    /// Of longer lists only the beginning is printed.
    private static let partsMaximum = 8
}
