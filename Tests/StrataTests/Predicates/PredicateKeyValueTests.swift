import Foundation
import Testing

@testable import Strata

/// Reading properties by name, and sorting by them.
@Suite struct PredicateKeyValueTests {
    class Animal {
        var name: String
        lazy var sound = "moo"
        var parent: Animal?
        init(_ name: String, parent: Animal? = nil) {
            self.name = name
            self.parent = parent
        }
    }

    final class Cow: Animal {
        var milk: Int? = 7
        var kind = Kind.dairy
    }

    enum Kind: String { case dairy, beef }

    final class Coded: KeyValueCoding {
        func value(forKey key: String) -> Any? { key == "numbers" ? [1, 2, 3] : nil }
    }

    @Test func plainObjectsAreReflected() {
        let cow = Cow("Berta", parent: Animal("Alma"))
        #expect(KeyValueAccess.value(of: cow, forKeyPath: "name") as? String == "Berta")
        #expect(KeyValueAccess.value(of: cow, forKeyPath: "milk") as? Int == 7)
        #expect(KeyValueAccess.value(of: cow, forKeyPath: "parent.name") as? String == "Alma")
        #expect(KeyValueAccess.value(of: cow, forKeyPath: "parent.parent.name") == nil)
        #expect(KeyValueAccess.value(of: cow, forKeyPath: "nothing") == nil)
        #expect(NSPredicate(format: "kind == 'dairy' AND milk BETWEEN {5, 9}").evaluate(with: cow))
        cow.milk = nil
        #expect(NSPredicate(format: "milk == nil").evaluate(with: cow))
    }

    @Test func codedObjectsAreAsked() {
        #expect(Coded().value(forKeyPath: "numbers.@sum.self") as? Int == 6)
        #expect(NSPredicate(format: "numbers.@avg.self == 2").evaluate(with: Coded()))
    }

    /// Whatever comes first: what is no number counts as little as what is not there.
    @Test func extremesLeaveOutWhatIsNoNumber() {
        func extremes(_ values: [Any]) -> [NSObject?] {
            [values, values.reversed()].flatMap { values in
                let array = NSArray(array: values)
                return ["@min.self", "@max.self"].map { array.value(forKeyPath: $0) as? NSObject }
            }
        }
        let dates = [Double.nan, 1, 2].map { NSDate(timeIntervalSinceReferenceDate: $0) }
        #expect(extremes(dates) == [dates[1], dates[2], dates[1], dates[2]])
        let decimals = [NSDecimalNumber.notANumber, 1, 2]
        #expect(extremes(decimals) == [decimals[1], decimals[2], decimals[1], decimals[2]])
        #expect(extremes([Double.nan, 1.5]) == [NSNumber(1.5), NSNumber(1.5), NSNumber(1.5), NSNumber(1.5)])
    }

    @Test func collectionsAreMapped() {
        let people: [[String: Any]] = [["n": "a", "v": 1], ["n": "b"], ["n": "a", "v": 3]]
        let array = NSArray(array: people)
        #expect((array.value(forKey: "v") as? [Any])?.count == 3)
        #expect((array.value(forKey: "v") as? [Any])?[1] is NSNull)
        #expect(array.value(forKeyPath: "@sum.v") as? Int == 4)
        #expect(array.value(forKeyPath: "@count") as? Int == 3)
        #expect((array.value(forKeyPath: "@distinctUnionOfObjects.n") as? [Any])?.count == 2)
        let set = NSSet(array: people)
        #expect((set.value(forKey: "n") as? NSSet)?.count == 2)
        #expect(set.value(forKeyPath: "@max.v") as? Int == 3)
        #expect(NSOrderedSet(array: people).value(forKeyPath: "@min.v") as? Int == 1)
        let dictionary = NSMutableDictionary()
        dictionary.setValue(["x": ["y": 5]], forKey: "w")
        #expect(dictionary.value(forKeyPath: "w.x.y") as? Int == 5)
        dictionary.setValue(nil, forKey: "w")
        #expect(dictionary.count == 0)
    }

    @Test func pathsAreSetInMutableDictionaries() {
        let (outer, inner) = (NSMutableDictionary(), NSMutableDictionary())
        outer.setValue(inner, forKey: "details")
        inner.setValue(NSMutableDictionary(), forKey: "model")
        outer.setValue("T", forKeyPath: "details.model.name")
        outer.setValue(1, forKeyPath: "plain")
        outer.setValue(2, forKeyPath: "nothing.there")
        #expect(outer.value(forKeyPath: "details.model.name") as? String == "T")
        #expect(outer.value(forKey: "plain") as? Int == 1 && outer.count == 2)
        outer.setValue(nil, forKeyPath: "details.model.name")
        #expect(outer.value(forKeyPath: "details.model.@count") as? Int == 0)
    }

    @Test func descriptorsSortByKey() {
        let rows: [[String: Any]] = [["n": "b", "v": 2], ["n": "B", "v": 1], ["n": "a"], ["n": "c", "v": 1.5]]
        func names(_ descriptors: NSSortDescriptor...) -> String {
            rows.sorted(using: descriptors).compactMap { $0["n"] as? String }.joined()
        }
        #expect(names(NSSortDescriptor(key: "v", ascending: true)) == "aBcb")
        #expect(names(NSSortDescriptor(key: "v", ascending: false)) == "bcBa")
        #expect(names(NSSortDescriptor(key: "n", ascending: true)) == "Babc")
        let insensitive = NSSortDescriptor(key: "n", ascending: true, selector: "caseInsensitiveCompare:")
        #expect(names(insensitive, NSSortDescriptor(key: "v", ascending: false)) == "abBc")
        let selector = Selector("localizedCaseInsensitiveCompare:")
        let localized = NSSortDescriptor(key: "n", ascending: true, selector: selector)
        #expect(names(localized, NSSortDescriptor(key: "v", ascending: true)) == "aBbc")
        let reversed = NSSortDescriptor(key: "n", ascending: true) { left, right in
            ("\(right)").compare("\(left)")
        }
        #expect(names(reversed) == "cbaB" || names(reversed) == "cBba" || names(reversed) == "cbBa")
        #expect(NSArray(array: rows).sortedArray(using: [NSSortDescriptor(key: "v", ascending: true)]).count == 4)
    }

    @Test func numbersSortWithinText() {
        let files = ["f10", "f9", "F1"]
        let standard = NSSortDescriptor(key: nil, ascending: true, selector: "localizedStandardCompare:")
        #expect(files.sorted(using: [standard]) == ["F1", "f9", "f10"])
    }

    @Test func descriptorsTellAboutThemselves() {
        let descriptor = NSSortDescriptor(key: "a.b", ascending: false)
        #expect(descriptor.key == "a.b")
        #expect(!descriptor.ascending)
        #expect(descriptor.selector == NSSelectorFromString("compare:"))
        #expect(descriptor == NSSortDescriptor(key: "a.b", ascending: false))
        #expect(descriptor != NSSortDescriptor(key: "a.b", ascending: true))
        #expect((descriptor.reversedSortDescriptor as? NSSortDescriptor)?.ascending == true)
        #expect((descriptor.copy() as? NSSortDescriptor) == descriptor)
    }

    @Test func unknownSelectorStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            _ = NSSortDescriptor(key: "a", ascending: true, selector: "myOwnCompare:")
        }
    }
}
