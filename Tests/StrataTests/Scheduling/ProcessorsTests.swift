import Foundation
import Testing

@testable import Strata

@Suite("Processors")
struct ProcessorsTests {
    @Test("there are as many as Foundation counts, or fewer where a control group lends more than there are")
    func count() {
        let process = ProcessInfo.processInfo
        #expect(Processors.count == min(process.activeProcessorCount, process.processorCount))
    }
}
