import Foundation

extension NSPersistentStoreCoordinator {
    func findStore(at url: URL) -> NSPersistentStore? {
        let stores = persistentStores
        guard !stores.isEmpty else { return nil }
        if let store = stores.first(where: { $0.url?.standardizedFileURL == url.standardizedFileURL }) { return store }
        let location = StoreLocation(url)
        return stores.first { store in store.url.map { StoreLocation($0) == location } ?? false }
    }
}
