import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataLog
import StrataShip
import StrataTransfer

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
