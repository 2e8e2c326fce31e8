extension OperationClient {
  /// Forgets the user: ends all runs, and removes all stores, stored values, journaled calls and values in a fleet.
  ///
  /// ```swift
  /// try await client.clearEverything {
  ///   try await keychain.removeToken()
  /// }
  /// ```
  ///
  /// When it returns, nothing of before is shown, sent, stored or comes back, whatever is under way: the runs are
  /// cancelled and their bodies have ended; all stores are removed and without a value, also for those who hold one, and
  /// without their initial values; values are removed from the storages, also those that were being written or
  /// restored; the calls of the journal are removed; the values of a fleet are invalidated; optimistic updates are gone.
  /// Subscriptions end, as with ``clearStores(matching:)``. Wrappers, `states(of:)` and derived queries go on with new
  /// stores.
  ///
  /// Runs and calls that begin meanwhile wait until `switching` has returned, and are shown as paused, so that none of
  /// them has the credentials of before. Only what `switching` itself runs does not wait.
  ///
  /// A mutation may sign the user out in its body: that run, and those around it that wait for it, go on. They change no
  /// store any more. One call is made at a time; another one joins it, and its own `switching` is not called.
  ///
  /// Stores that belong to no client, and values that the program has copied, are its own.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait for bodies, storages and other processes, measured by the deadlines of
  ///     ``defaultContext``.
  ///   - switching: Exchanges the credentials. Nothing of before runs, and nothing of after has begun. It is not called
  ///     if something is left.
  /// - Throws: ``ClearingError`` if something is left. Everything else was cleared: call the method again, and do not go
  ///   on as another user before it succeeds. Otherwise the error of `switching`, or `CancellationError` if the task was
  ///   cancelled, which does not end the clearing.
  /// - Complexity: O(*n*) in the number of stores, runs and stored values.
  public nonisolated(nonsending) func clearEverything(
    within limit: Duration = .seconds(10),
    switching: nonisolated(nonsending) () async throws -> Void = {}
  ) async throws {
    let clearing = ClientClearing()
    if let underWay = self.storage.begin(clearing) {
      clearing.open()
      if underWay.isSwitching { return self.reportNestedClearing() }
      return try await underWay.joined()
    }
    let outcome = await self.clear(in: clearing, within: limit, switching)
    self.storage.endClearing()
    clearing.end(outcome)
    try outcome.get()
  }

  private nonisolated(nonsending) func clear(
    in clearing: ClientClearing,
    within limit: Duration,
    _ switching: nonisolated(nonsending) () async throws -> Void
  ) async -> ClientClearing.Outcome {
    let work = ClearingWork(on: self.defaultContext.operationTaskConfiguration.executorPreference)
    var awaited: Set<OperationTaskIdentifier> = []
    self.forgetStores(in: work, &awaited)
    // What was invalidated names paths of the user, and what arrives later is of before.
    _ = self.invalidations.append([.path([])])
    for object in self.preloading { object.discardPreloaded(matching: []) }
    for object in self.clearings {
      work.begin("clear \(type(of: object))", { await object.clear() }, remaining: { object.remainingUntilCleared })
    }
    // Stores that were made before the stored values were removed may have begun with one.
    self.forgetStores(in: work, &awaited)
    let remaining = await work.remaining(within: limit, on: self.defaultContext.operationDeadlines)
    guard remaining.isEmpty else { return .failure(ClearingError(remaining: remaining)) }
    do {
      try await clearing.perform(switching)
    } catch {
      return .failure(error)
    }
    return Task.isCancelled ? .failure(CancellationError()) : .success(())
  }

  /// Removes all stores, empties them and those that were removed before, and cancels their runs.
  ///
  /// - Parameters:
  ///   - work: Waits for the runs, except for those that the current task works for.
  ///   - awaited: The runs that it waits for.
  private func forgetStores(in work: ClearingWork, _ awaited: inout Set<OperationTaskIdentifier>) {
    self.storage.removeAll(matching: []) { removed in
      let stores = (removed + self.storage.takeRemoved()).map { (runtime: $0, runs: $0.forget()) }
      let calling = CallingRun.all(in: stores.flatMap(\.runs))
      for (runtime, runs) in stores where !runs.isEmpty {
        // If a body does not end in time, the next call waits for it, too.
        self.storage.note(removed: runtime)
        let path = runtime.path
        for run in runs where !calling.contains(run.id) && awaited.insert(run.id).inserted {
          run.cancel()
          work.begin(
            "wait for \(run.id)",
            {
              await run.settled()
              return []
            },
            remaining: { [.run(path)] }
          )
        }
      }
    }
  }

  private func reportNestedClearing() {
    OperationWarning(
      code: .invalidArgument,
      message: """
        `clearEverything()` is called in the step of another call that switches to another user. It does nothing: the \
        client has been cleared. Call it outside of `switching`.
        """
    ).report()
  }
}
