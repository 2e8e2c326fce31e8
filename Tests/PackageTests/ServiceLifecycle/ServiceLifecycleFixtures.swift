#if SwiftOperationServiceLifecycle
  import OperationCore
  import OperationMutation
  import OperationServiceLifecycle
  import OperationTesting
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import Synchronization
  import Testing

  typealias Script = OperationScript<Int, any Error>

  /// A mutation whose calls a script answers.
  struct Change: MutationRequest {
    let script: Script
    let path: OperationPath

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Int,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, any Error>
    ) async throws -> Int {
      try await self.script.run(in: context, with: continuation)
    }
  }

  /// A mutation that waits for a query.
  struct DependentChange: MutationRequest {
    let token: OperationStore<QueryState<Int, any Error>>

    var path: OperationPath { ["dependent"] }

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Int,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, any Error>
    ) async throws -> Int {
      try await self.token.fetch() + arguments
    }
  }

  /// A mutation that waits for a gate, whether it is cancelled or not.
  struct StubbornChange: MutationRequest {
    let gate: Gate

    var path: OperationPath { ["stubborn"] }

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Int,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, any Error>
    ) async throws -> Int {
      await self.gate.waitIgnoringCancellation()
      return arguments
    }
  }

  /// Keeps all stores, so that no sleeper of the clock belongs to a cache time.
  struct KeepingCache: OperationClient.StoreCache {
    func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {}
    func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {}
  }

  /// A client with manual deadlines, its service, and the reports of the service.
  final class Program: Sendable {
    let clock = ManualClock()
    let client: OperationClient
    /// Opens with the first report.
    let hasReported = Gate()
    private let reported = Mutex<[OperationShutdownReport]>([])

    init() {
      var context = OperationContext()
      context.operationDeadlines = self.clock
      self.client = OperationClient(defaultContext: context, storeCache: KeepingCache())
    }

    /// The reports so far.
    var reports: [OperationShutdownReport] { self.reported.withLock { $0 } }

    var service: OperationClientService {
      OperationClientService(self.client, deadline: .seconds(10)) { report in
        self.reported.withLock { $0.append(report) }
        self.hasReported.open()
      }
    }

    /// The store of a mutation whose calls a script answers.
    func change(
      _ script: Script,
      at path: OperationPath = ["change"]
    ) -> OperationStore<MutationState<Int, Int, any Error>> {
      self.client.store(for: Change(script: script, path: path))
    }
  }
#endif
