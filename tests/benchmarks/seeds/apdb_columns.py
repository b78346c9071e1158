"""Columns of the alert production database: apdb 10.0.0 of Rubin's schemas, in its order, by table.

Each is written as name:type, with ! after the type of a column without NULLs.
"""

from __future__ import annotations

DIA_OBJECT = """
diaObjectId:long! validityStartMjdTai:double! validityEndMjdTai:double ra:double! raErr:float dec:double!
decErr:float ra_dec_Cov:float u_psfFluxMean:float u_psfFluxMeanErr:float u_psfFluxSigma:float u_psfFluxNdata:int!
u_fpFluxMean:float u_fpFluxMeanErr:float g_psfFluxMean:float g_psfFluxMeanErr:float g_psfFluxSigma:float
g_psfFluxNdata:int! g_fpFluxMean:float g_fpFluxMeanErr:float r_psfFluxMean:float r_psfFluxMeanErr:float
r_psfFluxSigma:float r_psfFluxNdata:int! r_fpFluxMean:float r_fpFluxMeanErr:float i_psfFluxMean:float
i_psfFluxMeanErr:float i_psfFluxSigma:float i_psfFluxNdata:int! i_fpFluxMean:float i_fpFluxMeanErr:float
z_psfFluxMean:float z_psfFluxMeanErr:float z_psfFluxSigma:float z_psfFluxNdata:int! z_fpFluxMean:float
z_fpFluxMeanErr:float y_psfFluxMean:float y_psfFluxMeanErr:float y_psfFluxSigma:float y_psfFluxNdata:int!
y_fpFluxMean:float y_fpFluxMeanErr:float u_scienceFluxMean:float u_scienceFluxMeanErr:float g_scienceFluxMean:float
g_scienceFluxMeanErr:float r_scienceFluxMean:float r_scienceFluxMeanErr:float i_scienceFluxMean:float
i_scienceFluxMeanErr:float z_scienceFluxMean:float z_scienceFluxMeanErr:float y_scienceFluxMean:float
y_scienceFluxMeanErr:float u_psfFluxMin:float u_psfFluxMax:float u_psfFluxMaxSlope:float u_psfFluxErrMean:float
g_psfFluxMin:float g_psfFluxMax:float g_psfFluxMaxSlope:float g_psfFluxErrMean:float r_psfFluxMin:float
r_psfFluxMax:float r_psfFluxMaxSlope:float r_psfFluxErrMean:float i_psfFluxMin:float i_psfFluxMax:float
i_psfFluxMaxSlope:float i_psfFluxErrMean:float z_psfFluxMin:float z_psfFluxMax:float z_psfFluxMaxSlope:float
z_psfFluxErrMean:float y_psfFluxMin:float y_psfFluxMax:float y_psfFluxMaxSlope:float y_psfFluxErrMean:float
firstDiaSourceMjdTai:double lastDiaSourceMjdTai:double nDiaSources:int!
"""

DIA_SOURCE = """
diaSourceId:long! visit:long! detector:short! diaObjectId:long ssObjectId:long parentDiaSourceId:long
ssObjectReassocTimeMjdTai:double midpointMjdTai:double! exposureTime:float ra:double! raErr:float dec:double!
decErr:float ra_dec_Cov:float x:float! xErr:float y:float! yErr:float centroid_flag:boolean apFlux:float
apFluxErr:float apFlux_flag:boolean apFlux_flag_apertureTruncated:boolean isNegative:boolean snr:float psfFlux:float
psfFluxErr:float psfLnL:float psfChi2:float psfNdata:int! psfFlux_flag:boolean psfFlux_flag_edge:boolean
psfFlux_flag_noGoodPixels:boolean trailFlux:float trailFluxErr:float trailRa:double trailRaErr:float trailDec:double
trailDecErr:float trailLength:float trailLengthErr:float trailAngle:float trailAngleErr:float trailChi2:float
trailNdata:int! trailAlgorithm:int trail_flag_edge:boolean trail_flag:boolean dipoleMeanFlux:float
dipoleMeanFluxErr:float dipoleFluxDiff:float dipoleFluxDiffErr:float dipoleLength:float dipoleAngle:float
dipoleChi2:float dipoleNdata:int! scienceFlux:float scienceFluxErr:float forced_PsfFlux_flag:boolean
forced_PsfFlux_flag_edge:boolean forced_PsfFlux_flag_noGoodPixels:boolean templateFlux:float templateFluxErr:float
ixx:float iyy:float ixy:float ixxPSF:float iyyPSF:float ixyPSF:float shape_flag:boolean shape_flag_no_pixels:boolean
shape_flag_not_contained:boolean shape_flag_parent_source:boolean extendedness:float reliability:float
reliabilityVersion:string band:string isDipole:boolean dipoleFitAttempted:boolean timeProcessedMjdTai:double!
timeWithdrawnMjdTai:double bboxSize:int! pixelFlags:boolean pixelFlags_bad:boolean pixelFlags_cr:boolean
pixelFlags_crCenter:boolean pixelFlags_edge:boolean pixelFlags_nodata:boolean pixelFlags_nodataCenter:boolean
pixelFlags_interpolated:boolean pixelFlags_interpolatedCenter:boolean pixelFlags_offimage:boolean
pixelFlags_saturated:boolean pixelFlags_saturatedCenter:boolean pixelFlags_suspect:boolean
pixelFlags_suspectCenter:boolean pixelFlags_streak:boolean pixelFlags_streakCenter:boolean
pixelFlags_injected:boolean pixelFlags_injectedCenter:boolean pixelFlags_injected_template:boolean
pixelFlags_injected_templateCenter:boolean glint_trail:boolean
"""

DIA_FORCED_SOURCE = """
diaForcedSourceId:long! diaObjectId:long! ra:double! dec:double! visit:long! detector:short! psfFlux:float
psfFluxErr:float midpointMjdTai:double! scienceFlux:float scienceFluxErr:float band:string
timeProcessedMjdTai:double! timeWithdrawnMjdTai:double
"""

DIA_OBJECT_LAST = """
diaObjectId:long! validityStartMjdTai:double! lastDiaSourceMjdTai:double ra:double! raErr:float dec:double!
decErr:float ra_dec_Cov:float firstDiaSourceMjdTai:double nDiaSources:int!
"""
