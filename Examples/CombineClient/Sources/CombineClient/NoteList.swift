public import Combine
public import CoreData

/// The notes of a context, for a screen: written for Apple's Combine, and unchanged.
@MainActor
public final class NoteList: ObservableObject {
    /// The titles in order.
    @Published public private(set) var titles: [String] = []
    /// How many saves there were.
    @Published public private(set) var saves = 0
    private let context: NSManagedObjectContext
    private var subscriptions: [AnyCancellable] = []

    public init(_ context: NSManagedObjectContext) {
        self.context = context
        NotificationCenter.default.publisher(for: .NSManagedObjectContextObjectsDidChange, object: context)
            .sink { [weak self] _ in MainActor.assumeIsolated { self?.reload() } }
            .store(in: &subscriptions)
        NotificationCenter.default.publisher(for: .NSManagedObjectContextDidSave, object: context)
            .map { _ in 1 }
            .scan(0, +)
            .sink { [weak self] count in MainActor.assumeIsolated { self?.saves = count } }
            .store(in: &subscriptions)
    }

    private func reload() {
        let request = NSFetchRequest<Note>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Note.title, ascending: true)]
        titles = (try? context.fetch(request).map(\.title)) ?? []
    }
}
