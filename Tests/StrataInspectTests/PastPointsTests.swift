import Dispatch
import Foundation
import Testing

@testable import StrataInspect

@Suite struct PastPointsTests {
    private struct Failure: Error {}

    @Test func whoDoesNotWaitLongEnoughFindsThePointLater() throws {
        let points = PastPoints<Int>(kept: 2, running: 1)
        let mayGoOn = DispatchSemaphore(value: 0)
        let error = #expect(throws: InspectError.self) {
            try points.value("a", in: .milliseconds(10)) {
                mayGoOn.wait()
                return 1
            }
        }
        #expect(error?.status == .gatewayTimeout)
        // As many as may are being read.
        let busy = #expect(throws: InspectError.self) { try points.value("b", in: .seconds(60)) { 2 } }
        #expect(busy?.status == .serviceUnavailable)
        mayGoOn.signal()
        #expect(try points.value("a", in: .seconds(600)) { 3 } == 1)
        #expect(try points.value("b", in: .seconds(600)) { 2 } == 2)
    }

    @Test func whatFailedIsTriedAgain() throws {
        let points = PastPoints<Int>(kept: 2, running: 1)
        #expect(throws: Failure.self) { try points.value("a", in: .seconds(600)) { throw Failure() } }
        #expect(try points.value("a", in: .seconds(600)) { 1 } == 1)
    }

    @Test func thePointsThatWereLookedAtLastStay() throws {
        let points = PastPoints<Int>(kept: 2, running: 2)
        for (key, value) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] {
            let known = key == "a" ? 1 : value
            #expect(try points.value(key, in: .seconds(600)) { value } == known)
        }
        // b went when c came.
        #expect(try points.value("b", in: .seconds(600)) { 5 } == 5)
        #expect(try points.value("c", in: .seconds(600)) { 6 } == 4)
    }
}
