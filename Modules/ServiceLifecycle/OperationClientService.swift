#if SwiftOperationServiceLifecycle
  public import OperationCore
  public import ServiceLifecycle

  /// A client as a service: it lets running mutations finish when the program shuts down gracefully.
  ///
  /// ```swift
  /// let operations = OperationClientService(client) { report in
  ///   for run in report.cutOff { logger.warning("cut off: \(run.kind)") }
  /// }
  /// let group = ServiceGroup(services: [database, operations, server], gracefulShutdownSignals: [.sigterm], logger: logger)
  /// try await group.run()
  /// ```
  ///
  /// A group shuts services down in the reverse order: put a client behind what its operations need, and before what calls
  /// them.
  public struct OperationClientService: Service {
    private let client: OperationClient
    private let deadline: Duration
    private let onShutdown: @Sendable (OperationShutdownReport) -> Void

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - client: The client. Its stores are looked after; stores that no client keeps are not.
    ///   - deadline: How long mutations may take to finish, by the deadlines of the client's default context.
    ///   - onShutdown: Gets what was cut off, once the runs have ended.
    public init(
      _ client: OperationClient,
      deadline: Duration = .seconds(30),
      onShutdown: @escaping @Sendable (OperationShutdownReport) -> Void
    ) {
      self.client = client
      self.deadline = deadline
      self.onShutdown = onShutdown
    }

    /// Waits for the shutdown, and carries it out.
    ///
    /// At a graceful shutdown nothing is run for subscribers any more, queries are cancelled, and mutations go on until the
    /// deadline, at which those that are left are cancelled. It returns when all of them have ended. When its task is
    /// cancelled, it cancels all runs at once and waits for none.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func run() async throws {
      let isGraceful = await Self.isGracefulShutdown()
      self.client.stopAutomaticRuns()
      var ending = ShutdownEnding()
      if isGraceful {
        ending.cutOff(self.client.runningStores().filter(\.canRunUnasked))
        await self.mutationsHaveEnded()
      }
      ending.cutOff(self.client.runningStores())
      await ending.allHaveEnded()
      self.onShutdown(OperationShutdownReport(cutOff: ending.runs))
      try Task.checkCancellation()
    }

    /// Waits for a shutdown. False when the task is cancelled instead.
    private static func isGracefulShutdown() async -> Bool {
      do { try await gracefulShutdown() } catch { return false }
      return !Task.isCancelled
    }

    /// Waits until no mutation runs, the deadline has come, or the task is cancelled.
    private func mutationsHaveEnded() async {
      let (client, deadline) = (self.client, self.deadline)
      let deadlines = client.defaultContext.operationDeadlines
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          while let running = client.runningStores().first(where: { !$0.canRunUnasked }), !Task.isCancelled {
            await running.settled()
          }
        }
        group.addTask { _ = try? await deadlines.sleep(for: deadline) }
        await group.next()
        group.cancelAll()
      }
    }
  }
#endif
