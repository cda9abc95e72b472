import Combine
import CombineClient
import CoreData
import Testing

/// Programs that use Combine run with the trait of that name.
@MainActor @Suite struct CombineClientTests {
    private func context() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Note.model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test func notificationsArePublished() throws {
        let context = try context()
        let list = NoteList(context)
        var changes = 0
        let subscription = list.objectWillChange.sink { changes += 1 }
        for title in ["b", "a"] { Note(context: context).title = title }
        try context.save()
        #expect(list.titles == ["a", "b"] && list.saves == 1 && changes >= 2)
        subscription.cancel()
    }

    @Test func objectsSayThatTheyWillChange() throws {
        let context = try context()
        let note = Note(context: context)
        var before: [String] = []
        var subscriptions: Set<AnyCancellable> = []
        note.objectWillChange.sink { before.append(note.title) }.store(in: &subscriptions)
        note.title = "a"
        note.title = "b"
        #expect(before == ["", "a"])
        let object: Any = note
        #expect(object is any ObservableObject)
    }

    @Test func propertiesArePublished() throws {
        let context = try context()
        let note = Note(context: context)
        var titles: [String] = []
        var subscriptions: [AnyCancellable] = []
        note.publisher(for: \.title)
            .removeDuplicates()
            .map { $0.uppercased() }
            .sink { titles.append($0) }
            .store(in: &subscriptions)
        var flags: [Bool] = []
        context.publisher(for: \.hasChanges).sink { flags.append($0) }.store(in: &subscriptions)
        note.title = "a"
        note.title = "a"
        note.title = "b"
        try context.save()
        #expect(titles == ["", "A", "B"] && flags == [true, false])
        subscriptions = []
        note.title = "c"
        #expect(titles.count == 3)
    }

    @Test func subscribersGetWhatTheyAskFor() throws {
        let context = try context()
        let note = Note(context: context)
        var titles: [String] = []
        let subscription = note.publisher(for: \.title, options: .new).prefix(2).sink { titles.append($0) }
        for title in ["a", "b", "c"] { note.title = title }
        #expect(titles == ["a", "b"])
        subscription.cancel()
        var asked: (any Subscription)?
        let slow = AnySubscriber<String, Never>(
            receiveSubscription: { asked = $0 },
            receiveValue: {
                titles.append($0)
                return .none
            }, receiveCompletion: { _ in })
        note.publisher(for: \.title, options: .new).subscribe(slow)
        note.title = "d"
        note.title = "e"
        #expect(titles == ["a", "b"])
        asked?.request(.max(1))
        #expect(titles == ["a", "b", "e"])
        asked?.cancel()
    }
}
