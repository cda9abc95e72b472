import ArgumentParser
import Foundation
import Strata
import StrataLog
import StrataShip
import StrataTransfer

/// An error as the command prints it: one clear line.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// What any error of the libraries says, with where it comes from.
    init(_ error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as StoreError: description = error.description
        case let error as PredicateFormatError: description = "the predicate cannot be read: \(error)"
        case let error as CocoaError:
            var text = (error.userInfo[NSLocalizedDescriptionKey] as? String) ?? error.localizedDescription
            if let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error {
                text += " (\(Self(cause).description))"
            }
            description = text
        default: description = "\(error)"
        }
    }
}

extension CommandError {
    /// What the command ends with when its work has thrown: exit codes and the like stay what they are.
    static func reported(_ error: any Error) -> any Error {
        switch error {
        case let error as TransferError where error.isBrokenPipe: ExitCode.success
        case is ShipError, is CocoaError, is StoreError, is PredicateFormatError, is ModelError, is TransferError:
            CommandError(error)
        default: error
        }
    }
}

/// Runs a command's work with errors turned into what the command prints.
func reporting<R>(_ body: () throws -> R) throws -> R {
    do {
        return try body()
    } catch {
        throw CommandError.reported(error)
    }
}
