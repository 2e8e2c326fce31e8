import CoreMetrics
import Operation

let backend = NOOPMetricsHandler.instance
