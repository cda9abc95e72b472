import CoreData
import Foundation
import Testing

/// ``NSPersistentStoreRequest/timeLimit``. A limit of zero is up when the request begins, so that nothing depends on
/// how long something takes.
@Suite struct TimeLimitTests {
    private static func isTimeout(_ error: any Error) -> Bool {
        (error as? CocoaError)?.code == .persistentStoreTimeout && (error as NSError).code == 134090
    }

    private static func request(_ limit: Duration?) -> NSFetchRequest<Employee> {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = NSPredicate(format: "age < 50")
        request.timeLimit = limit
        return request
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func fetchesWhoseTimeIsUpThrow(_ kind: StoreKind, _ isChild: Bool) throws {
        let store = try LimitsFixture.filled(kind, 100)
        let context = isChild ? NSManagedObjectContext(.privateQueue) : store.context()
        let parent = store.context()
        if isChild { context.parent = parent }
        try context.performAndWait { () throws in
            for limit in [Duration.zero, .seconds(-1)] {
                #expect { try context.fetch(Self.request(limit)) } throws: { Self.isTimeout($0) }
                #expect { try context.count(for: Self.request(limit)) } throws: { Self.isTimeout($0) }
                #expect { try context.fetchLazily(Self.request(limit)) } throws: { Self.isTimeout($0) }
                let dictionaries = NSFetchRequest<NSDictionary>(converting: Self.request(limit))
                dictionaries.resultType = .dictionaryResultType
                dictionaries.propertiesToFetch = ["name"]
                #expect { try context.fetch(dictionaries) } throws: { Self.isTimeout($0) }
            }
            for limit in [Duration.seconds(3_600), nil] {
                #expect(try context.fetch(Self.request(limit)).count == 60)
                #expect(try context.count(for: Self.request(limit)) == 60)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func timeThatRunsOutStopsTheFetch(_ kind: StoreKind) throws {
        let store = try LimitsFixture.filled(kind, 2_000)
        let context = store.context()
        let limit = Duration.milliseconds(20)
        let began = ContinuousClock.now
        // The time is up at the hundredth row, however long the rows before took.
        let trigger = Trigger(at: 100) { waitUntil { ContinuousClock.now - began > limit * 2 } }
        context.performAndWait {
            let request = Self.request(limit)
            request.predicate = trigger.predicate
            #expect { try context.fetch(request) } throws: { Self.isTimeout($0) }
        }
        #expect(trigger.count < 100 + 64)
    }

    @Test(arguments: StoreKind.allCases) func batchAndHistoryRequestsWhoseTimeIsUpStoreNothing(_ kind: StoreKind) throws
    {
        let store = try LimitsFixture.filled(kind, 100)
        let context = store.context()
        let update = NSBatchUpdateRequest(entityName: "Employee")
        update.propertiesToUpdate = ["age": 1_000]
        let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Employee"))
        let insert = NSBatchInsertRequest(entityName: "Employee", objects: [["name": "x"]])
        let described = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Employee"))
        described.fetchRequest.timeLimit = .zero
        let requests: [NSPersistentStoreRequest] = [
            update, delete, insert, NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast),
            NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture),
        ]
        context.performAndWait {
            for request in requests {
                request.timeLimit = .zero
                #expect { try context.execute(request) } throws: { Self.isTimeout($0) }
            }
            #expect { try context.execute(described) } throws: { Self.isTimeout($0) }
        }
        #expect(try LimitsFixture.count("Employee", context) == 100)
        #expect(try LimitsFixture.count("Employee", context, "age == 1000") == 0)
    }

    @Test(arguments: StoreKind.allCases) func asynchronousFetchesWhoseTimeIsUpSaySo(_ kind: StoreKind) async throws {
        let store = try LimitsFixture.filled(kind, 100)
        let context = store.context()
        for limitsFetch in [true, false] {
            let isTimeout: Bool = try await withCheckedThrowingContinuation { continuation in
                context.perform {
                    let fetch = NSAsynchronousFetchRequest(fetchRequest: Self.request(limitsFetch ? .zero : nil)) {
                        continuation.resume(returning: $0.operationError.map { Self.isTimeout($0) } ?? false)
                    }
                    if !limitsFetch { fetch.timeLimit = .zero }
                    do {
                        _ = try context.execute(fetch)
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
            #expect(isTimeout)
        }
    }

    @Test func limitsAreCopiedAndEncodedWithTheRequest() throws {
        let request = Self.request(.milliseconds(1_500))
        #expect((request.copy() as? NSFetchRequest<Employee>)?.timeLimit == .milliseconds(1_500))
        #expect(NSFetchRequest<NSManagedObjectID>(converting: request).timeLimit == .milliseconds(1_500))
        for limit in [Duration.milliseconds(1_500), .zero, .seconds(Int64.max), nil] {
            request.timeLimit = limit
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            request.encode(with: archiver)
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
            let read = NSFetchRequest<Employee>(coder: unarchiver)
            let expected = limit == .seconds(Int64.max) ? .nanoseconds(Int64.max) : limit
            #expect(read?.timeLimit == expected && read?.entityName == "Employee")
        }
        let requests: [NSPersistentStoreRequest] = [
            NSBatchUpdateRequest(entityName: "Employee"), NSBatchInsertRequest(entityName: "Employee", objects: []),
            NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Employee")),
            NSPersistentHistoryChangeRequest.fetchHistory(after: Date()),
            NSAsynchronousFetchRequest(fetchRequest: request),
        ]
        for request in requests {
            request.timeLimit = .seconds(2)
            #expect((request.copy() as? NSPersistentStoreRequest)?.timeLimit == .seconds(2))
        }
    }

    @Test func limitsOfTemplatesStayInTheModel() throws {
        let model = GraphModel.company()
        model.setFetchRequestTemplate(
            NSFetchRequest<any NSFetchRequestResult>(converting: Self.request(.seconds(3))), forName: "young")
        #expect(model.fetchRequestTemplate(forName: "young")?.timeLimit == .seconds(3))
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        model.encode(with: archiver)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let read = NSManagedObjectModel(coder: unarchiver)
        #expect(read?.fetchRequestTemplate(forName: "young")?.timeLimit == .seconds(3))
    }
}
