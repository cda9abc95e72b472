import Foundation
import Strata
import StrataLog

/// An error as the command prints it: one clear line.
package struct CommandError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// What any error of the libraries says, with where it comes from.
    package init(_ error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as StoreError: description = error.description
        case let error as PredicateFormatError: description = "the predicate cannot be read: \(error)"
        case let error as CocoaError:
            var text = (error.userInfo[NSLocalizedDescriptionKey] as? String) ?? error.localizedDescription
            if let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error {
                let why = Self(cause).description
                // Some errors are described by what caused them.
                if why != text { text += " (\(why))" }
            }
            description = text
        default: description = "\(error)"
        }
    }
}
