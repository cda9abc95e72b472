import ServiceLoad

/// A client with a thread of its own.
final class ShopObjectsClient: ServiceClient {
    private let store: ShopObjects

    init(store: ShopObjects) {
        self.store = store
    }

    func answer(_ request: ServiceRequest) throws -> UInt64 {
        try store.answerAndWait(request)
    }
}
