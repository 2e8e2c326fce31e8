#if SwiftOperationDevtools
  import Foundation
  import OperationCore
  import OperationPersistence
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  @Suite(.bounded) struct ValueNodeTests {
    private struct Author: Codable, Hashable, Sendable {
      var name = "Ada"
      var born: Date? = Date(timeIntervalSince1970: 0)
    }

    private struct Post: Codable, Hashable, Sendable {
      var id = 1
      var isDraft = false
      var author = Author()
      var tags = ["a", "b"]
      var score: [String: Double] = ["x": 1.5]
      var note: String?
    }

    private struct Password: Codable, Hashable, Sendable, OperationSecret {
      var text = "hunter2"
    }

    private struct Account: Codable, Hashable, Sendable {
      var name = "Ada"
      var password = Password()
      var earlier: [Password] = [Password()]
      @Unstored var pin: String? = "4711"
    }

    private struct PlainAccount: Sendable {
      let name = "Ada"
      let password = Password()
      let keys: [Password: Int] = [Password(): 1]
      @Unstored var pin: String? = "4711"
    }

    private final class Link: Sendable {
      let name = "Link"
    }

    /// An object that describes itself for those who look for faults alone.
    private final class Session: CustomDebugStringConvertible, Sendable {
      let password = Password()

      var debugDescription: String { "Session of \(self.password.text)" }
    }

    /// The node as lines: the label, the type and the text, indented.
    private func lines(_ node: ValueNode, _ indentation: String = "") -> [String] {
      let head = [node.label, node.text ?? (node.isSecret ? "secret \(node.type)" : node.type)].compactMap(\.self)
      return [indentation + head.joined(separator: ": ")] + node.children.flatMap { self.lines($0, indentation + "  ") }
    }

    @Test func `A value is shown as it encodes itself`() {
      expect(
        self.lines(ValueNode(Post())),
        equals: [
          "Post", "  id: 1", "  isDraft: false", "  author: Author", "    name: Ada", "    born: 1970-01-01T00:00:00Z",
          "  tags: Array<String>", "    0: a", "    1: b", "  score: Dictionary<String, Double>", "    x: 1.5",
        ]
      )
    }

    @Test func `Another value is shown by its members`() {
      enum Shape {
        case circle(radius: Double)
        case none
      }
      expect(
        self.lines(ValueNode((1, [Shape.none]))),
        equals: [
          "(Int, Array<Shape>)", "  .0: 1", "  .1: Array<Shape>", "    0: none",
        ]
      )
      expect(
        self.lines(ValueNode(Shape.circle(radius: 2))),
        equals: ["Shape", "  circle: (radius: Double)", "    radius: 2.0"]
      )
      expect(self.lines(ValueNode(Optional<Int>.none as Any)), equals: ["nil"])
      expect(self.lines(ValueNode(Optional(Optional(3)) as Any)), equals: ["3"])
    }

    @Test func `What is secret or not stored is never shown`() {
      for node in [ValueNode(Account()), ValueNode(PlainAccount()), ValueNode([Password()]), ValueNode(Password())] {
        let text = self.lines(node).joined(separator: "\n")
        #expect(!text.contains("hunter2") && !text.contains("4711"), "\(text)")
        #expect(text.contains("secret Password"))
        #expect(node.hasSecret)
      }
      #expect(!ValueNode(Post()).hasSecret)
      let session = self.lines(ValueNode(Session())).joined()
      #expect(!session.contains("hunter2") && session.contains("Session"), "\(session)")
    }

    @Test func `A large value is cut, and says so`() {
      let node = ValueNode(Array(0..<10_000))
      expect(node.children.count, equals: 200)
      expect(node.leftOut, equals: 9800)
      let wide = ValueNode((0..<200).map { _ in Array(0..<200) })
      #expect(self.lines(wide).count < 4500)
      let text = ValueNode(String(repeating: "x", count: 1_000_000))
      expect(text.text?.count, equals: 2001)
    }

    @Test func `A value that contains itself ends`() {
      indirect enum Chain {
        case link(Chain)
        case end
      }
      var chain = Chain.end
      for _ in 0..<1000 { chain = .link(chain) }
      #expect(self.lines(ValueNode(chain)).count < 40)
      expect(self.lines(ValueNode(Link())).count, equals: 1)
    }

    @Test func `Dates, data and addresses are shown as texts`() {
      expect(ValueNode(Data([1, 2, 3])).text, equals: "3 bytes")
      expect(ValueNode(URL(filePath: "/a")).text, equals: "file:///a")
      expect(ValueNode(Duration.seconds(2)).text, equals: "2.0 seconds")
    }
  }
#endif
