"""Documents of VOSI tables as the software of other data centres writes them; tables and texts are invented."""

from __future__ import annotations

_NAMESPACES = (
    'xmlns:vosi="http://www.ivoa.net/xml/VOSITables/v1.0" xmlns:vod="http://www.ivoa.net/xml/VODataService/v1.1" '
    'xmlns:vs="http://www.ivoa.net/xml/VODataService/v1.1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
)

#: The VOLLT library: TAP types with a size, ``primary`` for principal columns, no unknown types
VOLLT = f"""<?xml version="1.0" encoding="UTF-8"?>
<vosi:tableset {_NAMESPACES}>
  <schema>
    <name>hip</name><title>Stars</title><description>A small survey</description>
    <table><name>other</name><column><name>x</name><dataType xsi:type="vod:TAPType">REAL</dataType></column></table>
    <table type="view">
      <name>hip.main</name><description>Bright &amp; near stars</description>
      <column std="true"><name>id</name><description>Number</description><ucd>meta.id;meta.main</ucd>
        <dataType xsi:type="vod:TAPType">BIGINT</dataType><flag>indexed</flag><flag>primary</flag></column>
      <column><name>RAICRS</name><unit>deg</unit><ucd>pos.eq.ra;meta.main</ucd>
        <dataType xsi:type="vod:TAPType">DOUBLE</dataType><flag>indexed</flag><flag>primary</flag></column>
      <column><name>DEICRS</name><unit>deg</unit><ucd>pos.eq.dec;meta.main</ucd>
        <dataType xsi:type="vod:TAPType">DOUBLE</dataType><flag>indexed</flag><flag>primary</flag></column>
      <column><name>"B-V"</name><unit>mag(AB)</unit><ucd>PHOT_MAG_B</ucd><utype>a:b.c</utype>
        <dataType xsi:type="vod:TAPType">REAL</dataType><flag>indexed</flag></column>
      <column><name>name</name><dataType xsi:type="vod:TAPType" size="20">VARCHAR</dataType><flag>indexed</flag></column>
      <column><name>seen</name><dataType xsi:type="vod:TAPType">TIMESTAMP</dataType></column>
      <column><name>where</name><dataType xsi:type="vod:TAPType">POINT</dataType></column>
      <column><name>area</name><dataType xsi:type="vod:TAPType">REGION</dataType></column>
      <column><name>note</name><dataType xsi:type="vod:TAPType">CLOB</dataType></column>
      <column><name>image</name><dataType xsi:type="vod:TAPType">BLOB</dataType></column>
      <foreignKey><targetTable>other.stars</targetTable><description>the same star</description>
        <fkColumn><fromColumn>id</fromColumn><targetColumn>star</targetColumn></fkColumn></foreignKey>
      <foreignKey><targetTable>other.images</targetTable>
        <fkColumn><fromColumn>image</fromColumn><targetColumn>i</targetColumn></fkColumn></foreignKey>
    </table>
  </schema>
</vosi:tableset>"""

#: GAVO DaCHS: VOTable types, ``nrows``, utypes, keys within the schema
DACHS = f"""<?xml version='1.0' encoding='utf-8'?>
<vosi:tableset {_NAMESPACES}><schema><name>arigfh</name><utype>fk:all</utype><table type="table" xsi:type="vs:Table">
<name>arigfh.katkat</name><title>Catalogues</title><utype>fk:kat</utype><nrows>2391</nrows>
<column><name>catid</name><description>Key</description><ucd>meta.id;meta.main</ucd>
<dataType arraysize="*" xsi:type="vs:VOTableType">unicodeChar</dataType><flag>indexed</flag><flag>primary</flag></column>
<column><name>minEpoch</name><unit>yr</unit><ucd>time.epoch;stat.min</ucd><utype>fk:e</utype>
<dataType xsi:type="vs:VOTableType">float</dataType><flag>nullable</flag></column>
<column><name>box</name><dataType arraysize="4" extendedType="interval" xsi:type="vs:VOTableType">double</dataType>
<flag>nullable</flag></column>
<foreignKey><targetTable>arigfh.katkat</targetTable><fkColumn><fromColumn>catid</fromColumn>
<targetColumn>catid</targetColumn></fkColumn></foreignKey></table></schema></vosi:tableset>"""

#: CADC: TAP types with the prefix adql, sizes, VOTable types with xtypes
CADC = f"""<?xml version="1.0" encoding="UTF-8"?>
<vosi:tableset {_NAMESPACES} version="1.1"><schema><name>caom</name><table type="table"><name>caom.Plane</name>
<column><name>planeURI</name><ucd>meta.id;meta.main</ucd><dataType xsi:type="vod:VOTableType" arraysize="512*"
 extendedType="uri">char</dataType><flag>primary</flag><flag>indexed</flag></column>
<column><name>bounds</name><dataType xsi:type="vod:VOTableType" arraysize="*" extendedType="adql:REGION">char</dataType>
</column>
<column><name>lastModified</name><dataType xsi:type="vod:VOTableType" arraysize="*"
 extendedType="adql:TIMESTAMP">char</dataType></column>
<column><name>origin</name><dataType xsi:type="vod:VOTableType" arraysize="*"
 extendedType="adql:POINT">char</dataType></column>
<column><name>band</name><unit>m</unit><dataType xsi:type="vod:TAPType" size="32">adql:VARCHAR</dataType></column>
<column><name>edges</name><dataType xsi:type="vod:VOTableType" arraysize="2"
 extendedType="interval">double</dataType></column>
</table></schema></vosi:tableset>"""

#: ESA's Gaia archive: attributes in addition to VODataService, ``primary`` for principal columns
GAIA = f"""<?xml version="1.0" encoding="UTF-8"?>
<vod:tableset {_NAMESPACES} xmlns:esatapplus="http://esa.int/xml/EsaTapPlus" xsi:type="vod:TableSet">
<schema esatapplus:public="true"><name>gaiadr3</name><description>Third release</description>
<table type="table" esatapplus:size="1811709771" esatapplus:size_bytes="3" esatapplus:hierarchy=""
 esatapplus:flags="6"><name>gaiadr3.gaia_source</name><description>All sources</description>
<column std="false" esatapplus:flags="0"><name>solution_id</name><ucd>meta.version</ucd>
<dataType xsi:type="vod:VOTableType">long</dataType></column>
<column esatapplus:flags="1"><name>source_id</name><ucd>meta.id;meta.main</ucd>
<dataType xsi:type="vod:VOTableType">long</dataType><flag>primary</flag><flag>indexed</flag></column>
<column esatapplus:flags="2"><name>ra</name><unit>deg</unit><ucd>pos.eq.ra;meta.main</ucd><utype>stc:C1</utype>
<dataType xsi:type="vod:VOTableType">double</dataType><flag>primary</flag><flag>indexed</flag></column>
<column><name>dec</name><unit>deg</unit><ucd>pos.eq.dec;meta.main</ucd>
<dataType xsi:type="vod:VOTableType">double</dataType><flag>primary</flag><flag>indexed</flag></column>
<column><name>phot_g_mean_flux</name><unit>'electron'.s**-1</unit><ucd>phot.flux;em.opt</ucd>
<dataType xsi:type="vod:VOTableType">double</dataType><flag>indexed</flag></column>
<column><name>flags</name><dataType xsi:type="vod:VOTableType" arraysize="*">char</dataType></column>
<column><name>cov</name><dataType xsi:type="vod:VOTableType" arraysize="*">float</dataType></column>
</table></schema></vod:tableset>"""
