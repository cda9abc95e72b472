import StrataObjectStore
import Testing

@testable import StrataS3

struct XMLReaderTests {
    @Test func elementsTextAndReferencesAreRead() throws {
        let root = try XMLElement(
            parsing: Array(
                """
                \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
                <!-- before --><s3:List xmlns:s3='http://x/' a = "1>2">
                 <Key>a&amp;b &lt;&#x1F600;&#233;&#x1;<![CDATA[<&>]]></Key><Empty/><Key >2</Key ><!-- - -->
                </s3:List>
                """.utf8))
        #expect(root.name == "List")
        #expect(root.children.map(\.name) == ["Key", "Empty", "Key"])
        #expect(root.children.map(\.text) == ["a&b <😀é\u{1}<&>", "", "2"])
        #expect(root.child("None") == nil)
    }

    @Test(arguments: [
        "", "text", "<a>", "<a></b>", "<a><b></a></b>", "<a/><b/>", "<a x></a>", "<a x=1/>", "<a>&nbsp;</a>",
        "<a>&</a>",
        "<a>&#xD800;</a>", "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "<a><![CDATA[</a>", "<a", "<a/", "<>", "<a/>x",
    ])
    func otherTextsAreRefused(_ text: String) {
        #expect(throws: XMLReader.Failure.self) { try XMLElement(parsing: Array(text.utf8)) }
    }

    @Test func nestingHasAnEnd() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)).utf8)
        }
        _ = try XMLElement(parsing: nested(16))
        #expect(throws: XMLReader.Failure.self) { try XMLElement(parsing: nested(17)) }
        #expect(throws: XMLReader.Failure.self) { try XMLElement(parsing: nested(100_000)) }
    }

    @Test func textIsNotCutOrChangedOnItsWay() throws {
        let text = "a&<>\"' \t\r\nü😀"
        #expect(XMLText.canWrite(text))
        #expect(try XMLElement(parsing: Array("<a>\(XMLText.escaped(text))</a>".utf8)).text == text)
        #expect(!XMLText.canWrite("a\u{1}"))
    }

    @Test func listsAreRead() throws {
        let page = try ListPage(
            parsing: Array(
                """
                <ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>n</NextContinuationToken>
                <Contents><Key>k</Key><LastModified>1994-11-06T08:49:37.000Z</LastModified><ETag>&quot;e&quot;</ETag>
                <Size>12</Size></Contents></ListBucketResult>
                """.utf8), name: "")
        #expect(page.isTruncated && page.nextToken == "n")
        #expect(page.objects == [ObjectInfo(key: "k", size: 12, tag: "\"e\"", digest: nil, modified: 784_111_777)])
    }

    @Test(arguments: [
        "<Other><IsTruncated>false</IsTruncated></Other>", "<ListBucketResult/>", "<ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>k</Key></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>perhaps</IsTruncated></ListBucketResult>",
    ])
    func damagedListsAreRefused(_ text: String) {
        #expect(throws: ObjectStoreError.self) { try ListPage(parsing: Array(text.utf8), name: "") }
    }

    @Test func contentRangesAreRead() {
        #expect(ContentRange("bytes 0-9/100")?.bytes == 0..<10)
        #expect(ContentRange("bytes 0-9/100")?.size == 100)
        let others = [
            "", "bytes 0-9/*", "bytes 9-0/100", "bytes 0-100/100", "bits 0-9/100", "bytes -9/100", "bytes 0-9",
        ]
        for text in others { #expect(ContentRange(text) == nil) }
    }
}
