import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// An operation of which nothing but the type matters.
private protocol Trivial: OperationRequest {}

extension Trivial {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, Never>
  ) async -> Int { 1 }
}

private struct Outer<Element: Sendable> {
  struct Query: Trivial {}
}

private struct Titled: Trivial {
  var operationName: String { "title" }
}

@Suite(.bounded) struct OperationNameTests {
  @Test func `A name is the type with its enclosing types and without its module`() {
    struct Local {
      struct Query: Trivial {}
    }
    expect(Outer<[String: Int]>.Query().operationName, equals: "Outer.Query")
    #expect(Local.Query().operationName.hasSuffix("Local.Query"))
    #expect(!Local.Query().operationName.contains("("))
    #expect(OperationScript<[Int], any Error>().query().operationName == "ScriptedQuery<Array<Int>, Error>")
  }

  @Test func `The name is that of the operation under its modifiers`() {
    expect(Titled().operationName, equals: "title")
    expect(Titled().context { _ in }.operationName, equals: "title")
    #expect(
      OperationScript<Int, any Error>().query().stale(after: .zero).defaultValue(1).operationName
        == "ScriptedQuery<Int, Error>"
    )
  }
}
