import Operation
import OperationTesting

/// A mutation that a script controls.
struct ScriptedMutation: MutationRequest {
  let script: OperationScript<Int, any Error>

  var path: OperationPath { ["mutation"] }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.script.run(in: context, with: continuation)
  }
}
