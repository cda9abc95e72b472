import Foundation
import StrataLog

extension HistoryState {
    /// Where reading begins for a token: the number of the last transaction that is not wanted.
    ///
    /// - Throws: `CocoaError` 134301 when the token cannot be gone on from.
    func sequence(after token: NSPersistentHistoryToken?, _ handle: StoreHandle) throws -> UInt64 {
        guard let token else { return start - 1 }
        // A store that was added since the token was made is read from its beginning.
        guard let sequence = handle.sequence(of: token) else { return start - 1 }
        guard sequence >= start - 1, sequence <= handle.log.snapshot.sequence else {
            throw Self.expired("The history after \(token) of the store \(handle.identity.uuidString) is gone.")
        }
        return sequence
    }
}
