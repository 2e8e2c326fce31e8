import OperationCore
import OperationTesting
import Testing

private struct Outer<Element: Sendable> {
  struct Query: OperationRequest {
    func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, Never>
    ) async -> Int { 1 }
  }
}

private struct Titled: OperationRequest {
  var operationName: String { "title" }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, Never>
  ) async -> Int { 1 }
}

@Suite struct OperationNameTests {
  @Test func isTheTypeWithThoseAroundItAndWithoutItsModule() {
    struct Local {
      struct Query: OperationRequest {
        func run(
          isolation: isolated (any Actor)?,
          in context: OperationContext,
          with continuation: OperationContinuation<Int, Never>
        ) async -> Int { 1 }
      }
    }
    #expect(Outer<[String: Int]>.Query().operationName == "Outer.Query")
    #expect(Local.Query().operationName.hasSuffix("Local.Query"))
    #expect(!Local.Query().operationName.contains("("))
    #expect(OperationScript<[Int], any Error>().query().operationName == "ScriptedQuery<Array<Int>, Error>")
  }

  @Test func isThatOfTheOperationUnderItsModifiers() {
    #expect(Titled().operationName == "title")
    #expect(Titled().deterministic().operationName == "title")
    #expect(
      OperationScript<Int, any Error>().query().stale(after: .zero).defaultValue(1).operationName
        == "ScriptedQuery<Int, Error>"
    )
  }
}

extension OperationRequest {
  fileprivate func deterministic() -> some OperationRequest { self.context { _ in } }
}
