internal import Synchronization

extension Benchmark {
  /// The costs of parts of the language, for comparison.
  static let orientation = Benchmark(name: "orientation") { harness in
    let mutex = Mutex(0)
    let section = "orientation"
    return [
      Row(section, "await of an async no-op", try await harness.time(.baseline)),
      Row(section, "await of one with an empty body, which makes no hop", try await harness.time(.awaitingLess)),
      Row(section, "Task { }.value", try await harness.time(.awaiting { await Task {}.value })),
      Row(section, "Task.immediate { }.value", try await harness.time(.awaiting { await Task.immediate {}.value })),
      Row(
        section,
        "withTaskCancellationHandler",
        try await harness.time(.awaiting { await withTaskCancellationHandler(operation: nothing, onCancel: {}) })
      ),
      Row(section, "Mutex.withLock", try await harness.time(.calling { mutex.withLock { $0 &+= 1 } })),
    ]
  }
}
