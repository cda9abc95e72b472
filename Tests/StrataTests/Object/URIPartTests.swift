import Foundation
import Testing

@testable import Strata

@Suite("Parts of object URIs")
struct URIPartTests {
    @Test(
        "names are escaped as Foundation escapes them",
        arguments: ["Person", "Order2", "", "a_b", "a b", "Größe", "a-b", "a.b", "100%", "人", "[`{@"])
    func names(_ name: String) {
        let escaped = URIPart.escaped(name, .alphanumerics, isAllowed: URIPart.isAlphanumeric)
        #expect(escaped == name.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    }

    @Test("every ASCII character that is taken for one that is allowed is a letter or a digit")
    func alphanumerics() {
        for byte in UInt8(0)...255 {
            let isOne = byte < 128 && CharacterSet.alphanumerics.contains(Unicode.Scalar(byte))
            #expect(URIPart.isAlphanumeric(byte) == isOne)
        }
    }

    @Test(
        "identifiers of stores are escaped as Foundation escapes them",
        arguments: ["0E984725-C51C-4BF4-9960-E1C80E27ABA0", "my store", "a/b", "x_y", "é"])
    func identifiers(_ text: String) {
        #expect(
            StoreIdentity.named(text).escapedUUID == text.addingPercentEncoding(withAllowedCharacters: .urlHostAllowed))
    }
}
