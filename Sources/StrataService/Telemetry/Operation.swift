import Foundation
import Strata
import StrataSupport

/// What took time on a store, under the names of OpenTelemetry's conventions for databases.
struct Operation {
    /// `db.operation.name`.
    var name: String
    /// `db.collection.name`: the entity.
    var collection: String?
    var work: StoreWork

    /// `db.namespace`: the store's file name.
    var namespace: String? { work.store.map { ($0 as NSString).lastPathComponent } }

    /// `db.query.summary`, and the name of the span.
    var summary: String { collection.map { "\(name) \($0)" } ?? name }

    /// `error.type`: domain and code, never a description.
    var errorType: String? { work.error.map { EventErrorText.type(of: $0) } }

    /// `db.response.status_code`.
    var statusCode: String? { work.error.flatMap { EventErrorText.code(of: $0) }.map(String.init) }

    init(_ name: String, _ collection: String? = nil, of work: StoreWork) {
        self.name = name
        self.collection = collection
        self.work = work
    }

    init(_ fetch: any FetchEvent) { self.init(fetch.isCount ? "count" : "fetch", fetch.entity, of: fetch.work) }
}
