import Foundation

extension NSPersistentStoreDescription {
    /// How much history the store keeps; nil for all of it. The option ``StrataHistoryRetentionOption``.
    public final var historyRetention: HistoryRetention? {
        get { try? HistoryRetention.option(options) }
        set {
            setOption(newValue.map { NSDictionary(dictionary: $0.dictionary) }, forKey: StrataHistoryRetentionOption)
        }
    }
}
