import Foundation
import Strata
import StrataSupport

/// What took time on a store, under the names of OpenTelemetry's conventions for databases.
struct Operation {
    enum Kind: UInt8, CaseIterable {
        case fetch, count, save, batchInsert, batchUpdate, batchDelete, prefetch, fault, migrate, compact, checkpoint
        case open

        /// `db.operation.name`.
        var name: String {
            switch self {
            case .fetch: "fetch"
            case .count: "count"
            case .save: "save"
            case .batchInsert: "batch_insert"
            case .batchUpdate: "batch_update"
            case .batchDelete: "batch_delete"
            case .prefetch: "prefetch"
            case .fault: "fault"
            case .migrate: "migrate"
            case .compact: "compact"
            case .checkpoint: "checkpoint"
            case .open: "open"
            }
        }
    }

    var kind: Kind
    /// `db.collection.name`: the entity.
    var collection: String?
    var work: StoreWork

    var name: String { kind.name }

    /// `db.namespace`: the store's file name.
    var namespace: String? { work.store.map { ($0 as NSString).lastPathComponent } }

    /// `db.query.summary`, and the name of the span.
    var summary: String { collection.map { "\(name) \($0)" } ?? name }

    /// `error.type`: domain and code, never a description.
    var errorType: String? { work.error.map { EventErrorText.type(of: $0) } }

    /// `db.response.status_code`.
    var statusCode: String? { work.error.flatMap { EventErrorText.code(of: $0) }.map(String.init) }

    init(_ kind: Kind, _ collection: String? = nil, of work: StoreWork) {
        self.kind = kind
        self.collection = collection
        self.work = work
    }
}
