/// Keys of attributes, dimensions and metadata.
enum Names {
    static let strata = "strata"

    static let system = "db.system.name"
    static let namespace = "db.namespace"
    static let collection = "db.collection.name"
    static let operation = "db.operation.name"
    static let summary = "db.query.summary"
    static let queryText = "db.query.text"
    static let batchSize = "db.operation.batch.size"
    static let returnedRows = "db.response.returned_rows"
    static let statusCode = "db.response.status_code"
    static let errorType = "error.type"

    static let storeUUID = "strata.store.uuid"
    static let plan = "strata.plan"
    static let rowsScanned = "strata.rows.scanned"
    static let sequence = "strata.sequence"
    static let waited = "strata.waited"
    static let toParent = "strata.to_parent"
}
