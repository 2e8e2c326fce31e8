import OperationCore

typealias MeasurementState<Unit> = QueryState<Double, any Error>
