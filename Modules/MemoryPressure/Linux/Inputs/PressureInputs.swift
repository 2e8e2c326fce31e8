#if os(Linux)
  internal import OperationControlGroups

  /// What there is to watch, in the order of preference.
  struct PressureInputs: Sendable {
    var groups: MemoryGroups
    /// Tells of stalls, or what the service manager offers instead.
    var stalls: [any PressureInput] = []
    var limits: LimitInput?

    /// Opens what is there; nil when the service manager says that memory is not to be watched.
    init?(paths: LinuxMemoryPaths, obeysServiceManager: Bool, window: Duration, at time: Duration) {
      let watch = obeysServiceManager ? ServiceManagerWatch(environment: paths.environment) : .unset
      if watch == .off { return nil }
      self.groups = MemoryGroups(paths: paths)
      if case .path(let path, let bytes) = watch,
        let input = ServiceManagerWatch.input(path: path, writing: bytes, at: time)
      {
        self.stalls = [input]
      } else {
        let own = self.groups.unified.map { $0.own + "/memory.pressure" }
        let candidates = [own, paths.procRoot + "/pressure/memory"].compactMap { $0 }
        self.stalls = candidates.lazy.map { Self.stalls($0, at: time) }.first { !$0.isEmpty } ?? []
      }
      if self.groups.hasUnifiedMemory, let group = self.groups.unified?.own {
        self.limits = LimitInput(group: group, window: window)
      }
    }

    /// Triggers on a pressure file; none where there is no such file, or the process may not set them.
    private static func stalls(_ path: String, at time: Duration) -> [any PressureInput] {
      guard let warning = try? StallInput(path: path, .warning, at: time) else { return [] }
      return [warning] + [try? StallInput(path: path, .critical, at: time)].compactMap { $0 }
    }
  }
#endif
