import OperationBackoff
import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct BackoffContextTests {
  struct Plain: OperationRequest, Sendable {
    func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<OperationContext, Never>
    ) async -> OperationContext { context }
  }

  private func context(of operation: some OperationRequest<OperationContext, Never>) async -> OperationContext {
    await OperationRunner(operation: operation).run()
  }

  @Test func `Delays grow exponentially from a second by default, in the present task`() async {
    let context = await self.context(of: Plain())
    expect((1...4).map { context.operationBackoffFunction($0) / .seconds(1) }, equals: [1, 2, 4, 8])
    #expect(context.operationDelayer is TaskSleepDelayer)
  }

  @Test func `Modifiers set what the operation gets`() async {
    let context = await self.context(of: Plain().backoff(.constant(.seconds(7))).delayer(.noDelay))
    expect(context.operationBackoffFunction(3), equals: .seconds(7))
    #expect(context.operationDelayer is NoDelayer)
  }

  @Test func `The modifier nearer to the operation wins`() async {
    let context = await self.context(
      of: Plain().backoff(.constant(.seconds(1))).delayer(.noDelay).backoff(.noBackoff).delayer(.taskSleep)
    )
    expect(context.operationBackoffFunction(1), equals: .seconds(1))
    #expect(context.operationDelayer is NoDelayer)
  }
}
