import CoreData
import Foundation
import StrataLog
import Testing

@testable import Strata

/// Texts and data that lie outside of their rows.
@Suite struct LargeValueTests {
    private static func text(_ letter: String) -> String { String(repeating: letter, count: 100_000) }

    private static func address(_ text: String?) -> UnsafeRawPointer? {
        text?.utf8.withContiguousStorageIfAvailable { UnsafeRawPointer($0.baseAddress) } ?? nil
    }

    @Test(arguments: StoreKind.allCases) func aLargeTextIsMadeOnce(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let department = Department(context: context)
            department.title = Self.text("a")
            try context.save()
            context.refresh(department, mergeChanges: false)
            let first = department.title
            context.refresh(department, mergeChanges: false)
            let second = department.title
            #expect(first == Self.text("a"))
            let address = Self.address(first)
            #expect(address != nil && address == Self.address(second))
            context.reset()
            #expect(try fetchAll(Department.self, "Department", context).map(\.title) == [Self.text("a")])
        }
    }

    @Test(arguments: StoreKind.allCases) func anotherLargeTextShows(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (context, other) = (store.context(), store.context())
        let id = try context.performAndWait {
            let department = Department(context: context)
            department.title = Self.text("a")
            try context.save()
            context.refresh(department, mergeChanges: false)
            #expect(department.title == Self.text("a"))
            return department.objectID
        }
        try other.performAndWait {
            let department = try #require(other.object(with: id) as? Department)
            department.title = Self.text("b")
            try other.save()
        }
        try context.performAndWait {
            let department = try #require(context.object(with: id) as? Department)
            context.refresh(department, mergeChanges: true)
            #expect(department.title == Self.text("b"))
            department.title = Self.text("c")
            context.rollback()
            #expect(department.title == Self.text("b"))
        }
    }

    /// What is longer than a value may be is refused by the save, before anything of it is copied, and can be taken
    /// back.
    @Test(arguments: StoreKind.allCases) func whatIsLongerThanTheLargestValueIsRefused(_ kind: StoreKind) throws {
        let count = (512 << 20) + 1
        let zeros = try #require(mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
        try #require(zeros != MAP_FAILED)
        let data = Data(bytesNoCopy: zeros, count: count, deallocator: .unmap)
        let store = try TestStore(kind, GraphModel.everything())
        let context = store.context()
        func refusal(_ body: () throws -> Void) {
            let error = #expect(throws: CocoaError.self) { try body() }
            #expect(error?.code == .persistentStoreSave)
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("a value of \(count) bytes: the log takes at most \(512 << 20)"), "\(text)")
        }
        try context.performAndWait {
            let thing = insert("Thing", context).set(["string": "kept", "data": data])
            refusal { try context.save() }
            thing.setValue(nil, forKey: "data")
            try context.save()
            thing.setValue(data, forKey: "data")
            refusal { try context.save() }
            context.rollback()
            refusal {
                try context.execute(NSBatchInsertRequest(entityName: "Thing", objects: [["data": data]]))
            }
            let update = NSBatchUpdateRequest(entityName: "Thing")
            update.propertiesToUpdate = ["data": data]
            refusal { try context.execute(update) }
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")) == 1)
        }
    }

    @Test func atMostSoMuchIsKept() {
        func location(_ number: Int, _ byteCount: Int) -> ExternalValue {
            ExternalValue(
                segment: 1, byteOffset: UInt32(number), byteCount: UInt64(byteCount),
                storedByteCount: UInt64(byteCount), checksum: 0)
        }
        func kept(_ cache: LargeValueCache, _ number: Int, _ byteCount: Int, _ store: UInt16 = 1) -> String? {
            cache.value(at: location(number, byteCount), store)
        }
        var cache = LargeValueCache()
        for number in 0...LargeValueCache.maximumCount { cache.keep("\(number)", at: location(number, 9), 1) }
        #expect(kept(cache, 0, 9) == nil && kept(cache, 1, 9) == "1" && kept(cache, 1, 9, 2) == nil)
        #expect((cache.value(at: location(1, 9), 1) as Data?) == nil)
        let most = LargeValueCache.maximumByteCount
        cache.keep("too large", at: location(10, most + 1), 1)
        #expect(kept(cache, 10, most + 1) == nil && kept(cache, 1, 9) == "1")
        cache.keep("large", at: location(11, most), 1)
        #expect(kept(cache, 11, most) == "large" && kept(cache, 4, 9) == nil)
        cache.keep("one more", at: location(12, 1), 1)
        #expect(kept(cache, 11, most) == nil && kept(cache, 12, 1) == "one more")
        cache.keep(1, at: location(13, 1), 1)
        #expect((cache.value(at: location(13, 1), 1) as Int?) == nil)
        cache.keep("not written", at: .pending(number: 1, byteCount: 1), 1)
        #expect((cache.value(at: .pending(number: 1, byteCount: 1), 1) as String?) == nil)
        cache.removeAll()
        #expect(kept(cache, 12, 1) == nil)
    }
}
