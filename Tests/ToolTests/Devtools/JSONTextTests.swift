#if SwiftOperationDevtools
  import Foundation
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  @Suite(.bounded) struct JSONTextTests {
    @Test(arguments: [
      "", "plain", "\"quoted\" \\ back", "\n\r\t\u{0}\u{1F}\u{7F}", "</script><!--", "& > <", "\u{2028}\u{2029}",
      "🙂 é e\u{301} \u{FFFF}", "\r\n",
    ])
    func `A text is the same after it was read`(text: String) throws {
      let json = JSONText.object { $0.member("text", text) }
      let read = try JSONDecoder().decode([String: String].self, from: Data(json.utf8))
      expect(read["text"].map { Array($0.unicodeScalars) }, equals: Array(text.unicodeScalars))
      #expect(!json.contains { $0 == "<" || $0 == ">" || $0 == "&" })
    }

    @Test func `Members are separated at each level`() throws {
      let json = JSONText.object { json in
        json.member("a", 1)
        json.member("absent", String?.none)
        json.key("b")
        json.array { json in
          json.value(1.5)
          json.object { $0.flag("c", true) }
          json.object { $0.flag("c", false) }
          json.array { _ in }
        }
        json.member("nan", Double.nan)
        json.key("list")
        json.value(["x", "y"])
      }
      expect(json, equals: #"{"a":1,"b":[1.5,{"c":true},{},[]],"nan":null,"list":["x","y"]}"#)
    }
  }
#endif
