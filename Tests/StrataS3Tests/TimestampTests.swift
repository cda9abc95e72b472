import Foundation
import Testing

@testable import StrataS3

struct TimestampTests {
    @Test func headersAndListsAreRead() {
        #expect(Timestamp(header: "Sun, 06 Nov 1994 08:49:37 GMT")?.seconds == 784_111_777)
        #expect(Timestamp(iso8601: "1994-11-06T08:49:37Z")?.seconds == 784_111_777)
        #expect(Timestamp(iso8601: "1994-11-06T08:49:37.250Z")?.seconds == 784_111_777.25)
    }

    @Test(arguments: [
        "", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
    ])
    func otherHeadersAreNone(_ text: String) {
        #expect(Timestamp(header: text) == nil)
    }

    @Test(arguments: ["", "1994-11-06", "1994-11-06T08:49:37", "1994-13-06T08:49:37Z", "1994-11-06T08:49:37.Z", "T"])
    func otherTextsAreNone(_ text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    /// Beside Foundation's calendar, with leap years and ends of centuries.
    @Test func datesAreThoseOfTheCalendar() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        var seconds = 0.0
        while seconds < 4_200_000_000 {
            let date = Date(timeIntervalSince1970: seconds)
            formatter.dateFormat = "yyyyMMdd'T'HHmmss'Z'"
            #expect(Timestamp(seconds: seconds).basic == formatter.string(from: date))
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            #expect(Timestamp(header: formatter.string(from: date))?.seconds == seconds)
            seconds += 86_400 * 17 + 12_345
        }
    }
}
