#if SwiftOperationConfiguration
  public import Configuration
  public import OperationCore
  internal import Synchronization

  /// Changes limits, breakers, retries and the like when a configuration changes, while their runs go on.
  ///
  /// ```swift
  /// let settings = OperationSettings(reader.scoped(to: "posts"))
  /// settings.bind(.integer("permits"), .integer("queue")) { values in
  ///   limit.update(permits: values.integer("permits"), queue: values.integer("queue"))
  /// }
  /// settings.bind(.number("failureRatio")) { breaker.update(failureRatio: $0.number("failureRatio")) }
  /// try await settings.run()
  /// ```
  ///
  /// A binding is applied when it is made, and again by ``run()`` whenever one of its values changes. Its values always come
  /// from one version of the configuration, so a file that changes two of them never applies only one.
  ///
  /// Whatever is wrong, the last good setting stays: a value of another type is reported with a warning and is nil for the
  /// binding, an impossible one is reported by the `update` method, which then changes nothing, and a value that is removed
  /// changes nothing.
  public final class OperationSettings: Sendable {
    fileprivate struct State: Sendable {
      var bindings: [SettingsBinding] = []
      /// What each binding has applied last; nil before the first time.
      var applied: [[String: OperationSettingValues.Value]?] = []
      /// Whether the values may have changed since they were read last.
      var needsApplying = false
      var isApplying = false
    }

    private let reader: ConfigReader
    private let context: OperationContext
    private let state = Mutex(State())

    /// Creates settings without bindings.
    ///
    /// - Parameters:
    ///   - reader: The reader of the configuration. With a provider that does not reload, each binding is applied once.
    ///   - context: A context whose observers receive ``OperationCore/OperationNotice/Name/settingsChanged``, such as
    ///     the default context of a client.
    public init(_ reader: ConfigReader, context: OperationContext = OperationContext()) {
      self.reader = reader
      self.context = context
    }
  }

  extension OperationNotice.Name {
    /// Values of a configuration have changed, and were applied. The attribute `settings.keys` names them.
    public static let settingsChanged = Self("settings.changed")
  }

  // MARK: - Bindings

  extension OperationSettings {
    /// Applies some values now, and again whenever one of them changes while ``run()`` runs.
    ///
    /// - Parameters:
    ///   - settings: The values, which are read together.
    ///   - apply: Receives the values. Called while no lock is held, by one task at a time. What it binds itself is
    ///     applied after it.
    public func bind(
      _ settings: OperationSetting...,
      apply: @escaping @Sendable (OperationSettingValues) -> Void
    ) {
      self.state.withLock { state in
        state.bindings.append(SettingsBinding(settings: settings, apply: apply))
        state.applied.append(nil)
      }
      self.apply()
    }

    /// Applies the values that have changed since they were applied last.
    ///
    /// Where another task applies values at the moment, it also applies these.
    public func apply() {
      let begins = self.state.withLock { state in
        state.needsApplying = true
        if state.isApplying { return false }
        state.isApplying = true
        return true
      }
      guard begins else { return }
      while let bindings = self.state.withLock({ $0.bindingsToApply() }) { self.apply(bindings) }
    }

    /// Applies the values whenever they change, until the task is cancelled.
    ///
    /// It is what a service of swift-service-lifecycle calls: `extension OperationSettings: @retroactive Service {}`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func run() async throws {
      // The values are read when they are applied: then they are at least as new, also after a slow binding.
      try await self.reader.watchSnapshot { snapshots in
        for await _ in snapshots { self.apply() }
      }
      try Task.checkCancellation()
    }

    private func apply(_ bindings: [SettingsBinding]) {
      let snapshot = self.reader.snapshot()
      var changedKeys: Set<String> = []
      for (index, binding) in bindings.enumerated() {
        let values = binding.values(in: snapshot)
        let earlier = self.state.withLock { state in
          defer { state.applied[index] = values }
          return state.applied[index]
        }
        if values == earlier { continue }
        let changed = binding.keys(with: values, unlike: earlier ?? [:])
        for key in changed where values[key] == .malformed { binding.report(key) }
        binding.apply(OperationSettingValues(values: values))
        if earlier != nil { changedKeys.formUnion(changed) }
      }
      if changedKeys.isEmpty { return }
      let keys = changedKeys.sorted().joined(separator: " ")
      self.context.send(OperationNotice(.settingsChanged, attributes: ["settings.keys": .string(keys)]))
    }
  }

  extension OperationSettings.State {
    /// The bindings to apply; nil if the values have not changed since they were read.
    fileprivate mutating func bindingsToApply() -> [SettingsBinding]? {
      guard self.needsApplying else {
        self.isApplying = false
        return nil
      }
      self.needsApplying = false
      return self.bindings
    }
  }

  /// Some values, and what to do with them.
  private struct SettingsBinding: Sendable {
    let settings: [OperationSetting]
    let apply: @Sendable (OperationSettingValues) -> Void

    func values(in snapshot: ConfigSnapshotReader) -> [String: OperationSettingValues.Value] {
      self.settings.reduce(into: [:]) { values, setting in values[setting.name] = setting.value(in: snapshot) }
    }

    /// The keys whose values differ, in the order of the settings.
    func keys(
      with values: [String: OperationSettingValues.Value],
      unlike earlier: [String: OperationSettingValues.Value]
    ) -> [String] {
      self.settings.map(\.name).filter { values[$0] != earlier[$0] }
    }

    /// Reports a value of another type. The value is left out of the message, because it may be a secret.
    func report(_ key: String) {
      let kind = self.settings.first { $0.name == key }?.kind.rawValue ?? "another value"
      OperationWarning(
        code: .invalidArgument,
        severity: .failure,
        message: "The setting `\(key)` is not \(kind). The last good one stays; correct the configuration."
      ).report()
    }
  }
#endif
